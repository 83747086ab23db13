#include "policies/scheduling/elastic_policy.hpp"

#include "policies/scheduling/host_room.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace contend {

double ElasticJob::speed_on(int gpus, std::int32_t on) const {
  const auto found = std::ranges::lower_bound(sizes, gpus);
  if (found == sizes.end() || *found != gpus) return 0;
  return speeds[static_cast<std::size_t>(on) * sizes.size() + static_cast<std::size_t>(found - sizes.begin())];
}

int ElasticJob::size_above(int gpus) const {
  const auto found = std::ranges::upper_bound(sizes, gpus);
  return found == sizes.end() ? 0 : *found;
}

int ElasticJob::size_within(int gpus) const {
  const auto found = std::ranges::upper_bound(sizes, gpus);
  return found == sizes.begin() ? 0 : *std::prev(found);
}

int ElasticJob::usable_below(int gpus, std::int32_t on) const {
  do gpus = size_within(gpus - 1);
  while (gpus > 0 && speed_on(gpus, on) <= 0);
  return gpus;
}

void give_by_steps(std::span<const ElasticJob> jobs, int left, std::vector<int>& gpus,
                   const std::function<bool(const GpuStep&)>& may,
                   const std::function<bool(const GpuStep& best, const GpuStep& other)>& wins) {
  while (left > 0) {
    std::size_t best = jobs.size();
    const auto step = [&](std::size_t i) { return GpuStep{jobs[i], gpus[i], jobs[i].size_above(gpus[i])}; };
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const GpuStep next = step(i);
      if (next.to == 0 || next.to - next.from > left || !may(next)) continue;
      if (best == jobs.size() || wins(step(best), next)) best = i;
    }
    if (best == jobs.size()) return;
    const GpuStep taken = step(best);
    left -= taken.to - taken.from;
    gpus[best] = taken.to;
  }
}

DecisionTimes elastic_decisions(const Parameters& parameters, const PolicyContext& context) {
  return DecisionTimes{Time::ceil_nanoseconds(parameters.get<double>("period_s") * 1e9), context.quantum};
}

void ElasticPolicy::queued(const JobView& job) {
  if (const auto known = ties_.find(job.id); known != ties_.end()) jobs_.erase(known->second);
  ties_[job.id] = job.tie;
  jobs_[job.tie] = job.id;
  new_.insert(job.id);
}

void ElasticPolicy::left(JobId job) {
  const auto known = ties_.find(job);
  if (known == ties_.end()) return;
  jobs_.erase(known->second);
  ties_.erase(known);
  starts_.erase(job);
  new_.erase(job);
}

std::vector<ElasticJob> ElasticPolicy::jobs_now(const ClusterView& cluster, std::vector<int>& gpus) const {
  const auto types = static_cast<std::int32_t>(cluster.types());
  const std::int32_t vc = cluster.job(jobs_.begin()->second).vc;
  std::vector<ElasticJob> jobs;
  for (std::int32_t t = 0; t < types; ++t) gpus.push_back(std::max(0, cluster.free_gpus_on(vc, t)));
  for (const auto& [tie, id] : jobs_) {
    ElasticJob job;
    job.view = cluster.job(id);
    job.type = std::max(0, job.view.server_type);
    job.held = job.view.running ? job.view.gpus : 0;
    gpus[static_cast<std::size_t>(job.type)] += job.held;
    job.left_s = job.view.remaining_service.to_seconds() / job.view.preferred_gpus;
    if (const auto starts = starts_.find(id); starts != starts_.end()) job.starts = starts->second;
    jobs.push_back(std::move(job));
  }
  leave_out_without_host(cluster, jobs, gpus);
  for (ElasticJob& job : jobs) {
    std::vector<std::vector<double>> speeds(static_cast<std::size_t>(types));  // of the sizes, by type
    const auto add = [&](int size) {
      std::vector<double> made;
      for (std::int32_t t = 0; t < types; ++t) {
        const bool is_there = size <= gpus[static_cast<std::size_t>(t)] || (size == job.held && t == job.type);
        made.push_back(is_there ? cluster.speed_with(job.view, size, t) : 0);
      }
      if (std::ranges::none_of(made, [](double speed) { return speed > 0; })) return;
      job.sizes.push_back(size);
      for (std::size_t t = 0; t < made.size(); ++t) speeds[t].push_back(made[t]);
    };
    for (const int size : cluster.sizes_of(job.view.id)) add(size);
    // A service scales itself: while it runs it has the size that it holds.
    if (cluster.sizes_of(job.view.id).empty()) add(job.held > 0 ? job.held : job.view.preferred_gpus);
    for (const std::vector<double>& of_type : speeds)
      job.speeds.insert(job.speeds.end(), of_type.begin(), of_type.end());
  }
  for (std::int32_t t = 0; t < types && types > 1; ++t) {
    const auto may_use = [t](const ElasticJob& job) {
      return std::ranges::any_of(job.sizes, [&](int size) { return job.speed_on(size, t) > 0; });
    };
    if (std::ranges::none_of(jobs, may_use)) gpus[static_cast<std::size_t>(t)] = 0;
  }
  return jobs;
}

void ElasticPolicy::leave_out_without_host(const ClusterView& cluster, std::span<const ElasticJob> jobs,
                                           std::vector<int>& gpus) const {
  HostRoom least = HostRoom::of_rank(jobs.front().view);
  for (const ElasticJob& job : jobs) {
    const HostRoom rank = HostRoom::of_rank(job.view);
    least = {std::min(least.milli_cpus, rank.milli_cpus), std::min(least.host_memory, rank.host_memory)};
  }
  if (!least.any()) return;
  const std::vector<WholeServer> servers = servers_without(cluster, [this](JobId job) { return ties_.contains(job); });
  for (std::size_t t = 0; t < gpus.size(); ++t) {
    const ServerRange usable = usable_servers(cluster, jobs.front().view, static_cast<std::int32_t>(t));
    int with_host = 0;
    for (std::size_t s = usable.first; s < usable.last; ++s) with_host += servers[s].host.ranks(least, servers[s].gpus);
    gpus[t] = std::min(gpus[t], with_host);
  }
}

void ElasticPolicy::give_way(const ElasticJob& job, int gpus, std::int32_t type, SchedulingActions& actions) {
  if (job.held == 0) return;
  if (gpus == 0 || type != job.type) return actions.preempt(job.view.id);
  if (gpus >= job.held) return;
  if (actions.resize(job.view.id, gpus)) ++starts_[job.view.id];
}

void ElasticPolicy::carry_out(std::vector<ElasticJob> jobs, const Division& division, const ClusterView& cluster,
                              SchedulingActions& actions) {
  for (const auto& [index, reason] : division.refused) {
    const JobId job = jobs[index].view.id;
    actions.refuse(job, reason);
    left(job);
  }
  const std::vector<SizedClaim> open = open_promises(division, cluster);
  std::vector<std::size_t> first, others;  // jobs with open promises, and all others
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (std::ranges::any_of(division.refused, [i](const auto& each) { return each.first == i; })) continue;
    (std::ranges::find(open, jobs[i].view.id, &SizedClaim::job) == open.end() ? others : first).push_back(i);
  }
  std::set<JobId> placed;
  if (!finds_places(jobs, division, open, first, actions)) placed = keep_promises(jobs, division, cluster, actions);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::int32_t type = division.types.empty() ? 0 : division.types[i];
    give_way(jobs[i], division.gpus[i], type, actions);
  }
  start_and_grow(jobs, division, first, placed, cluster, actions);
  // A placement policy that draws random numbers may have put a job elsewhere than was planned.
  if (!open_promises(division, cluster).empty()) placed.merge(keep_promises(jobs, division, cluster, actions));
  start_and_grow(jobs, division, others, placed, cluster, actions);
}

std::vector<SizedClaim> ElasticPolicy::open_promises(const Division& division, const ClusterView& cluster) {
  std::vector<SizedClaim> open;
  std::ranges::copy_if(division.promised, std::back_inserter(open), [&](const SizedClaim& claim) {
    const JobView job = cluster.job(claim.job);
    return !job.running || job.gpus < claim.gpus;
  });
  return open;
}

bool ElasticPolicy::finds_places(const std::vector<ElasticJob>& jobs, const Division& division,
                                 const std::vector<SizedClaim>& open, const std::vector<std::size_t>& first,
                                 SchedulingActions& actions) {
  if (open.empty()) return true;
  std::vector<SizedClaim> planned;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].held == 0 || division.gpus[i] >= jobs[i].held) continue;
    static_cast<void>(add_claim({jobs[i].view.id, division.gpus[i]}, planned, actions));
  }
  const auto finds_place = [&](std::size_t i) {
    const int least = std::ranges::find(open, jobs[i].view.id, &SizedClaim::job)->gpus;
    for (int gpus = division.gpus[i]; gpus >= least; gpus = jobs[i].usable_below(gpus))
      if (add_claim({jobs[i].view.id, gpus}, planned, actions)) return true;
    return false;
  };
  for (const bool runs : {false, true})  // first those that start, and then those that grow
    for (const std::size_t i : first)
      if ((jobs[i].held > 0) == runs && !finds_place(i)) return false;
  return true;
}

bool ElasticPolicy::add_claim(SizedClaim claim, std::vector<SizedClaim>& planned, SchedulingActions& actions) {
  std::vector<SizedClaim> asked = planned;
  asked.push_back(std::move(claim));
  if (!actions.plan_together(asked)) return false;
  planned = std::move(asked);
  return true;
}

void ElasticPolicy::start_and_grow(const std::vector<ElasticJob>& jobs, const Division& division,
                                   std::vector<std::size_t> order, const std::set<JobId>& placed,
                                   const ClusterView& cluster, SchedulingActions& actions) {
  const auto type_of = [&](std::size_t i) { return division.types.empty() ? 0 : division.types[i]; };
  // Large jobs first where types are chosen: they need whole servers, which small ones would break up.
  if (!division.types.empty())
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return division.gpus[i]; });
  for (const std::size_t i : order) {
    if (cluster.job(jobs[i].view.id).running) continue;
    bool runs = false;
    for (int gpus = division.gpus[i]; gpus > 0 && !runs; gpus = jobs[i].usable_below(gpus, type_of(i)))
      runs = actions.start_with(jobs[i].view.id, gpus, division.types.empty() ? -1 : type_of(i));
    if (runs) ++starts_[jobs[i].view.id];
    if (!runs && actions.recording())
      actions.blocked(jobs[i].view.id, division.gpus[i] > 0 ? Why::no_place : Why::passed_over);
  }
  for (const std::size_t i : order) {
    const ElasticJob& job = jobs[i];
    if (job.held == 0 || job.type != type_of(i) || placed.contains(job.view.id)) continue;
    if (!cluster.job(job.view.id).running) continue;
    bool has_grown = false;
    for (int gpus = division.gpus[i]; gpus > job.held && !has_grown; gpus = job.usable_below(gpus, type_of(i)))
      has_grown = actions.resize(job.view.id, gpus);
    if (has_grown) ++starts_[job.view.id];
  }
}

std::set<JobId> ElasticPolicy::keep_promises(std::vector<ElasticJob>& jobs, const Division& division,
                                             const ClusterView& cluster, SchedulingActions& actions) {
  std::set<JobId> promised;
  for (const SizedClaim& claim : division.promised) promised.insert(claim.job);
  std::vector<SizedClaim> planned = division.promised, leave;
  std::map<JobId, std::vector<GpuId>> before;
  for (const ElasticJob& job : jobs) {
    const auto gpus = cluster.gpus_of(job.view.id);
    if (cluster.job(job.view.id).running) before[job.view.id] = {gpus.begin(), gpus.end()};
    if (!promised.contains(job.view.id) && before.contains(job.view.id)) leave.push_back({job.view.id});
  }
  // Jobs stay if there is room for them beside those in front of them.
  planned.insert(planned.end(), leave.begin(), leave.end());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto own = before.find(jobs[i].view.id);
    if (own == before.end() || promised.contains(own->first) || division.gpus[i] == 0) continue;
    const int held = static_cast<int>(own->second.size()), gpus = std::min(held, division.gpus[i]);
    replace_claim({own->first, gpus, gpus == held ? own->second : std::vector<GpuId>{}}, planned, actions);
  }
  // A job that moves to its kept place can have its spare GPUs there at once.
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto claim = std::ranges::find(division.promised, jobs[i].view.id, &SizedClaim::job);
    if (claim == division.promised.end()) continue;
    std::vector<GpuId> held = before[claim->job], kept = claim->place;
    std::ranges::sort(held);
    std::ranges::sort(kept);
    bool has_more = held == kept;  // it may grow later
    for (int gpus = division.gpus[i]; gpus > claim->gpus && !has_more; gpus = jobs[i].usable_below(gpus))
      has_more = replace_claim({claim->job, gpus}, planned, actions);
  }
  for (const SizedClaim& claim : planned)
    if (claim.gpus == 0) actions.preempt(claim.job);
  std::erase_if(planned, [](const SizedClaim& claim) { return claim.gpus == 0; });
  actions.take_places(planned);
  std::set<JobId> placed;
  for (ElasticJob& job : jobs) {
    const JobView now = cluster.job(job.view.id);
    job.held = now.running ? now.gpus : 0;
    if (!now.running || std::ranges::equal(before[job.view.id], cluster.gpus_of(job.view.id))) continue;
    ++starts_[job.view.id];
    placed.insert(job.view.id);
  }
  return placed;
}

bool ElasticPolicy::replace_claim(SizedClaim claim, std::vector<SizedClaim>& planned, SchedulingActions& actions) {
  std::vector<SizedClaim> asked = planned;
  *std::ranges::find(asked, claim.job, &SizedClaim::job) = std::move(claim);
  if (!actions.plan_together(asked)) return false;
  planned = std::move(asked);
  return true;
}

void ElasticPolicy::pass(const ClusterView& cluster, SchedulingActions& actions) {
  if (jobs_.empty()) {
    next_ = Time::never();
    return;
  }
  if (!decisions_.is_decision(cluster.now())) {
    if (!actions.recording()) return;
    for (const JobId id : new_)
      if (!cluster.job(id).running) actions.blocked(id, Why::between_decisions);
    return;
  }
  std::vector<int> gpus;
  std::vector<ElasticJob> jobs = jobs_now(cluster, gpus);
  const int all = std::accumulate(gpus.begin(), gpus.end(), 0), each = std::max(1, cluster.gpus_per_server(-1));
  servers_ = static_cast<std::size_t>((all + each - 1) / each);
  cluster_ = &cluster;
  actions_ = &actions;
  const Division division = divide(jobs, gpus, cluster.now());
  cluster_ = nullptr;
  actions_ = nullptr;
  carry_out(std::move(jobs), division, cluster, actions);
  next_ = division.next;
  new_.clear();
}

Time ElasticPolicy::next_decision(const ClusterView& cluster) {
  if (jobs_.empty()) return Time::never();
  if (!decisions_.has_period()) return next_ > cluster.now() ? next_ : Time::never();
  return decisions_.next_asked(cluster.now());
}

}  // namespace contend
