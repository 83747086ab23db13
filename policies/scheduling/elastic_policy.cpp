#include "policies/scheduling/elastic_policy.hpp"

#include <algorithm>
#include <numeric>

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
    if (cluster.sizes_of(job.view.id).empty()) add(job.view.preferred_gpus);
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
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::int32_t type = division.types.empty() ? 0 : division.types[i];
    give_way(jobs[i], division.gpus[i], type, actions);
  }
  start_and_grow(jobs, division, cluster, actions);
  const bool is_kept = std::ranges::all_of(division.promised, [&](const SizedClaim& claim) {
    const JobView job = cluster.job(claim.job);
    return job.running && job.gpus >= claim.gpus;
  });
  if (is_kept) return;
  keep_promises(jobs, division, cluster, actions);
  start_and_grow(jobs, division, cluster, actions);
}

void ElasticPolicy::start_and_grow(const std::vector<ElasticJob>& jobs, const Division& division,
                                   const ClusterView& cluster, SchedulingActions& actions) {
  const auto is_refused = [&](std::size_t i) {
    return std::ranges::any_of(division.refused, [i](const auto& each) { return each.first == i; });
  };
  const auto type_of = [&](std::size_t i) { return division.types.empty() ? 0 : division.types[i]; };
  const auto smaller = [&](std::size_t i, int gpus) {
    do gpus = jobs[i].size_within(gpus - 1);
    while (gpus > 0 && jobs[i].speed_on(gpus, type_of(i)) <= 0);
    return gpus;
  };
  // Large jobs first where types are chosen: they need whole servers, which small ones would break up.
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!division.types.empty())
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return division.gpus[i]; });
  for (const std::size_t i : order) {
    if (is_refused(i) || cluster.job(jobs[i].view.id).running) continue;
    bool runs = false;
    for (int gpus = division.gpus[i]; gpus > 0 && !runs; gpus = smaller(i, gpus))
      runs = actions.start_with(jobs[i].view.id, gpus, division.types.empty() ? -1 : type_of(i));
    if (runs) ++starts_[jobs[i].view.id];
    if (!runs && actions.recording())
      actions.blocked(jobs[i].view.id, division.gpus[i] > 0 ? Why::no_place : Why::passed_over);
  }
  for (const std::size_t i : order) {
    const ElasticJob& job = jobs[i];
    if (job.held == 0 || job.type != type_of(i) || !cluster.job(job.view.id).running) continue;
    bool has_grown = false;
    for (int gpus = division.gpus[i]; gpus > job.held && !has_grown; gpus = smaller(i, gpus))
      has_grown = actions.resize(job.view.id, gpus);
    if (has_grown) ++starts_[job.view.id];
  }
}

void ElasticPolicy::keep_promises(std::vector<ElasticJob>& jobs, const Division& division, const ClusterView& cluster,
                                  SchedulingActions& actions) {
  std::set<JobId> promised;
  for (const SizedClaim& claim : division.promised) promised.insert(claim.job);
  std::vector<SizedClaim> stay = division.promised, open;  // the latter are of jobs that may have to wait
  for (const ElasticJob& job : jobs)
    if (!promised.contains(job.view.id) && cluster.job(job.view.id).running) open.push_back({job.view.id});
  for (std::size_t i = 0; i < open.size(); ++i) {
    const auto gpus = cluster.gpus_of(open[i].job);
    std::vector<SizedClaim> asked = stay;
    asked.push_back({open[i].job, static_cast<int>(gpus.size()), {gpus.begin(), gpus.end()}});
    const std::size_t staying = asked.size();
    asked.insert(asked.end(), open.begin() + static_cast<std::ptrdiff_t>(i) + 1, open.end());
    if (!actions.plan_together(asked)) {
      actions.preempt(open[i].job);
      continue;
    }
    asked.resize(staying);
    stay = std::move(asked);
  }
  std::map<JobId, std::vector<GpuId>> before;
  for (const SizedClaim& claim : division.promised) {
    const auto gpus = cluster.gpus_of(claim.job);
    before[claim.job] = {gpus.begin(), gpus.end()};
  }
  actions.take_places(division.promised);
  for (ElasticJob& job : jobs) {
    const JobView now = cluster.job(job.view.id);
    job.held = now.running ? now.gpus : 0;
    if (promised.contains(job.view.id) && !std::ranges::equal(before[job.view.id], cluster.gpus_of(job.view.id)))
      ++starts_[job.view.id];
  }
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
