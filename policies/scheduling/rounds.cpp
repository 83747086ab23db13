#include "policies/scheduling/rounds.hpp"

#include "policies/scheduling/gpu_groups.hpp"
#include "policies/scheduling/room_left.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace contend {

namespace {

constexpr double kWithoutTime = 1e9;  // priority of a job that has received no time, for a whole share
constexpr double kShareDigits = 1e9;  // shares are rounded to this part of one before they decide anything

double rounded_share(double share) {
  return std::round(share * kShareDigits) / kShareDigits;
}

/// Names the jobs that alone would miss their deadlines, or, if there is none, all that have one.
void remark_deadlines(const TypedCluster& cluster, SchedulingActions& actions) {
  std::vector<JobId> alone, all;
  for (const TypedJob& job : cluster.jobs) {
    if (!job.time_left || *job.time_left <= 0) continue;
    double best = 0;
    for (std::size_t t = 0; t < cluster.capacity.size(); ++t) best = std::max(best, rate_on(cluster, job, t));
    all.push_back(job.id);
    if (job.left > best * *job.time_left) alone.push_back(job.id);
  }
  if (alone.empty())
    actions.remark("can't all meet their deadlines, so that these don't count until they can", all);
  else
    actions.remark(
        "would miss the deadline with all of the time on the fastest type, so that none counts until it ends", alone);
}

}  // namespace

RoundPolicy::RoundPolicy(const Parameters& parameters, bool packs)
    : round_{Time::ceil_nanoseconds(parameters.get<double>("round_s") * 1e9)},
      reallocate_after_{Time::ceil_nanoseconds(parameters.get<double>("reallocate_s") * 1e9)},
      fills_{parameters.get<bool>("fill")},
      packs_{packs} {}

RoundPolicy::RoundPolicy(Time round, Time reallocate_after)
    : round_{round}, reallocate_after_{reallocate_after}, fills_{false}, packs_{false}, lends_{true} {}

void RoundPolicy::queued(const JobView& view) {
  const auto known = ties_.find(view.id);
  if (known == ties_.end()) has_changed_ = true;
  Job job;
  if (known != ties_.end()) {
    const auto at = jobs_.find({known->second, view.id});
    job = std::move(at->second);
    jobs_.erase(at);
    part(job);
  }
  job.view = view;
  job.type = -1;
  ties_[view.id] = view.tie;
  jobs_.emplace(std::pair{view.tie, view.id}, std::move(job));
}

void RoundPolicy::left(JobId id) {
  const auto known = ties_.find(id);
  if (known == ties_.end()) return;
  const auto at = jobs_.find({known->second, id});
  part(at->second);
  std::erase_if(pairs_,
                [&](const auto& pair) { return pair.first.first == at->first || pair.first.second == at->first; });
  jobs_.erase(at);
  ties_.erase(known);
  has_changed_ = true;
}

/// The job no longer runs beside another one.
void RoundPolicy::part(Job& job) {
  if (!job.partner.valid()) return;
  const auto tie = ties_.find(job.partner);
  if (tie != ties_.end()) jobs_.at({tie->second, job.partner}).partner = JobId::none();
  job.partner = JobId::none();
}

void RoundPolicy::count_time(Time now) {
  const double elapsed_s = (now - counted_until_).to_seconds();
  counted_until_ = now;
  for (auto& [key, job] : jobs_) {
    if (job.type < 0) continue;
    Account* account = &job.alone;
    if (job.partner.valid()) {
      const Key other{ties_.at(job.partner), job.partner};
      const auto pair = pairs_.find({key, other});  // each pair once: from its first job
      if (pair == pairs_.end()) continue;
      account = &pair->second;
    }
    if (account->has_share) account->received[static_cast<std::size_t>(job.type)] += elapsed_s;
  }
}

std::vector<int> RoundPolicy::gpus_of(const ClusterView& cluster) const {
  std::vector<int> gpus;
  const std::int32_t vc = jobs_.begin()->second.view.vc;
  for (std::size_t t = 0; t < cluster.types(); ++t) {
    const auto may_use = [t](const auto& job) { return job.second.rates.empty() || job.second.rates[t] > 0; };
    const bool is_used = std::ranges::any_of(jobs_, may_use);
    gpus.push_back(is_used ? cluster.gpus_in_service(vc, static_cast<std::int32_t>(t)) : 0);
  }
  return gpus;
}

TypedJob RoundPolicy::typed(const ClusterView& cluster, Job& job, const JobView& view) const {
  const auto types = static_cast<std::int32_t>(cluster.types());
  if (job.rates.empty())
    for (std::int32_t t = 0; t < types; ++t) job.rates.push_back(cluster.speed_on(view, t));
  double left_s = view.remaining_service.to_seconds() / view.gpus;
  if (!view.timed && view.server_type >= 0) left_s *= job.rates[static_cast<std::size_t>(view.server_type)];
  if (job.isolated_rate > 0) job.isolated_s += std::max(0.0, job.left_s - left_s) / job.isolated_rate;
  job.left_s = left_s;
  TypedJob made;
  made.gpus = view.gpus;
  made.rates = job.rates;
  made.left = std::max(left_s, 1e-9);
  made.age = (cluster.now() - view.submit).to_seconds();
  made.isolated = job.isolated_s;
  made.vc = view.vc;
  made.id = view.id;
  made.user = view.user;
  if (view.deadline) made.time_left = (*view.deadline - cluster.now()).to_seconds();
  return made;
}

TypedCluster RoundPolicy::typed(const ClusterView& cluster, SchedulingActions& actions, const GpuPart& part,
                                std::span<const Key> keys) {
  TypedCluster typed{.capacity = part.gpus, .most = part.most};
  for (std::size_t t = 0; t < cluster.types(); ++t)
    typed.prices.push_back(cluster.price_of(static_cast<std::int32_t>(t)));
  if (std::any_of(typed.prices.begin(), typed.prices.end(), [](double price) { return price <= 0; }))
    typed.prices.clear();
  for (const std::size_t i : part.jobs)
    typed.jobs.push_back(this->typed(cluster, jobs_.at(keys[i]), cluster.job(keys[i].second)));
  add_hosts(cluster, typed);
  const std::vector<double> isolated = equal_share_rates(typed);
  for (std::size_t i = 0; i < part.jobs.size(); ++i) jobs_.at(keys[part.jobs[i]]).isolated_rate = isolated[i];
  if (!packs_) return typed;
  add_quotas(cluster, typed);
  add_pairs(cluster, actions, typed);
  return typed;
}

void RoundPolicy::add_quotas(const ClusterView& cluster, TypedCluster& typed) {
  std::map<std::int32_t, double> wanted;
  for (const TypedJob& job : typed.jobs) wanted[job.vc] += job.gpus;
  for (const auto& [vc, gpus] : wanted)
    if (const int quota = fixed_quota(cluster, vc); quota < gpus) typed.quotas.push_back({vc, quota * 1.0});
}

namespace {

/// True if jobs that together hold no more than so many GPUs could need more of the hosts than there is.
bool could_be_short(const TypedHosts& hosts, std::span<const TypedJob> jobs, double gpus) {
  std::vector<std::size_t> order;  // those that need most for each of their GPUs first
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (hosts.parts[i] > 0) order.push_back(i);
  std::ranges::sort(order, std::ranges::greater{}, [&](std::size_t i) { return hosts.parts[i] / jobs[i].gpus; });
  double needed = 0;
  for (const std::size_t i : order) {
    const double share = std::min(1.0, gpus / jobs[i].gpus);
    needed += share * hosts.parts[i];
    gpus -= share * jobs[i].gpus;
  }
  return rounded_share(needed) > 1;
}

}  // namespace

/// The CPUs and the memory of the servers in service, where jobs could want more than there is. A part of the GPUs of a
/// type has as large a part of them.
void RoundPolicy::add_hosts(const ClusterView& cluster, TypedCluster& typed) const {
  std::vector<JobView> views;
  for (const TypedJob& job : typed.jobs) views.push_back(cluster.job(job.id));
  const auto needs_host = [](const JobView& view) { return HostRoom::of_rank(view).any(); };
  if (std::ranges::none_of(views, needs_host)) return;
  const std::vector<WholeServer> servers = whole_servers(cluster);
  for (std::size_t t = 0; t < cluster.types(); ++t) {
    const ServerRange range = usable_servers(cluster, views.front(), static_cast<std::int32_t>(t));
    for (std::int64_t HostRoom::*const resource : {&HostRoom::milli_cpus, &HostRoom::host_memory}) {
      double there = 0;
      int gpus = 0;
      for (std::size_t s = range.first; s < range.last; ++s) {
        gpus += servers[s].gpus;
        if (servers[s].gpus > 0) there += static_cast<double>(servers[s].host.*resource);
      }
      if (gpus == 0 || typed.capacity[t] <= 0) continue;
      there *= typed.capacity[t] / gpus;
      TypedHosts hosts{t, {}};
      for (std::size_t i = 0; i < views.size(); ++i) {
        const bool may_run = rate_on(typed, typed.jobs[i], t) > 0;
        const double need = static_cast<double>(HostRoom::of_rank(views[i]).*resource) * views[i].gpus;
        hosts.parts.push_back(may_run ? need / there : 0);
      }
      const double gpus_of_jobs = typed.capacity[t] * (packs_ ? 2 : 1);  // GPUs of a pair count for each of its jobs
      if (could_be_short(hosts, typed.jobs, gpus_of_jobs)) typed.hosts.push_back(std::move(hosts));
    }
  }
}

/// Pairs that could run on the same GPUs: by their quotas, each of which counts its own jobs, by the law, and where the
/// placement policy would put them on servers with CPUs and memory for both.
void RoundPolicy::add_pairs(const ClusterView& cluster, SchedulingActions& actions, TypedCluster& typed) {
  const std::size_t types = cluster.types();
  std::vector<JobId> all;
  for (const TypedJob& job : typed.jobs) all.push_back(job.id);
  SharedPlaces places{cluster, actions, all};
  for (std::size_t a = 0; a < typed.jobs.size(); ++a) {
    for (std::size_t b = a + 1; b < typed.jobs.size(); ++b) {
      const TypedJob &first = typed.jobs[a], &second = typed.jobs[b];
      const std::int32_t vcs[] = {first.vc, second.vc};
      if (first.gpus != second.gpus || !QuotasLeft{cluster}.take(vcs, static_cast<int>(first.gpus))) continue;
      const JobId both[] = {first.id, second.id};
      TypedPair pair{.first = a, .second = b, .first_rates = {}, .second_rates = {}};
      bool any = false;
      for (std::size_t t = 0; t < types; ++t) {
        const auto type = static_cast<std::int32_t>(t);
        const double one = cluster.speed_beside(first.id, {&second.id, 1}, type);
        const double other = cluster.speed_beside(second.id, {&first.id, 1}, type);
        const bool can = one > 0 && other > 0 && places.could_share(both, type);
        pair.first_rates.push_back(can ? one * first.rates[t] : 0);
        pair.second_rates.push_back(can ? other * second.rates[t] : 0);
        any = any || can;
      }
      if (any) typed.pairs.push_back(std::move(pair));
    }
  }
}

/// Adds to the deficit what the shares promised in so much time, less what came of it.
void RoundPolicy::settle(Account& account, double elapsed_s, std::size_t types) const {
  if (account.has_share)
    for (std::size_t t = 0; t < types; ++t) account.deficit[t] += account.shares[t] * elapsed_s - account.received[t];
  account.deficit.resize(types);
  account.received.assign(types, round_.to_seconds() / 2);
  account.has_share = true;
}

void RoundPolicy::set_shares(Account& account, std::span<const double> shares) {
  account.shares.clear();
  for (const double share : shares) account.shares.push_back(rounded_share(share));
}

void RoundPolicy::reallocate(const ClusterView& cluster, SchedulingActions& actions) {
  const Time now = cluster.now();
  const std::size_t types = cluster.types();
  const double elapsed_s = divided_at_ == Time::never() ? 0 : (now - divided_at_).to_seconds();
  std::vector<Key> keys;
  std::vector<JobView> views;
  for (auto& [key, job] : jobs_) {
    settle(job.alone, elapsed_s, types);
    keys.push_back(key);
    views.push_back(job.view);
  }
  std::map<std::pair<Key, Key>, Account> pairs;
  for (const GpuPart& part : parts_within_quotas(cluster, views)) {
    const TypedCluster jobs = typed(cluster, actions, part, keys);
    const TimeShares shares = divide(jobs, cluster);
    if (shares.misses_deadlines) remark_deadlines(jobs, actions);
    for (std::size_t i = 0; i < part.jobs.size(); ++i)
      set_shares(jobs_.at(keys[part.jobs[i]]).alone, {shares.x.data() + i * types, types});
    for (std::size_t p = 0; p < jobs.pairs.size() && !shares.pairs.empty(); ++p) {
      const std::span<const double> own{shares.pairs.data() + p * types, types};
      if (std::ranges::none_of(own, [](double share) { return rounded_share(share) > 0; })) continue;
      const std::pair<Key, Key> both{keys[part.jobs[jobs.pairs[p].first]], keys[part.jobs[jobs.pairs[p].second]]};
      const auto known = pairs_.find(both);
      Account& account =
          pairs.emplace(both, known == pairs_.end() ? Account{} : std::move(known->second)).first->second;
      settle(account, elapsed_s, types);
      set_shares(account, own);
    }
  }
  pairs_ = std::move(pairs);
  divided_at_ = now;
  divided_gpus_ = gpus_of(cluster);
  has_changed_ = false;
}

std::vector<RoundPolicy::Entry> RoundPolicy::entries(std::size_t types) {
  std::vector<double> received(types);  // by all, on each type
  for (std::size_t t = 0; t < types; ++t) {
    for (const auto& [key, job] : jobs_)
      if (job.alone.has_share) received[t] += job.alone.received[t];
    for (const auto& [keys, account] : pairs_) received[t] += account.received[t];
  }
  std::vector<Entry> order;
  const auto add = [&](const Account& account, Job& first, Job* second) {
    if (!account.has_share) return;
    for (std::size_t t = 0; t < types; ++t) {
      const double share = account.shares[t];
      if (first.rates[t] <= 0 || (share <= 0 && !lends_)) continue;
      const double priority =
          account.received[t] > 0 ? share / (account.received[t] / received[t]) : kWithoutTime * share;
      order.push_back({priority, account.deficit[t], share, first.rates[t], &first, second, t});
    }
  };
  for (auto& [key, job] : jobs_) add(job.alone, job, nullptr);
  for (auto& [keys, account] : pairs_) add(account, jobs_.at(keys.first), &jobs_.at(keys.second));
  std::stable_sort(order.begin(), order.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.priority, a.deficit, a.share, a.rate) > std::tie(b.priority, b.deficit, b.share, b.rate);
  });
  return order;
}

std::vector<RoundPolicy::Taken> RoundPolicy::choose(const ClusterView& cluster) {
  std::vector<JobView> all;
  for (auto& [key, job] : jobs_) {
    job.is_taken = false;
    all.push_back(job.view);
  }
  RoomLeft room{cluster, gpus_of(cluster), all};
  QuotasLeft quotas{cluster};
  const std::vector<Entry> order = entries(cluster.types());
  std::vector<Taken> chosen;
  for (const Entry& entry : order) {
    if (entry.first->is_taken || (entry.second != nullptr && entry.second->is_taken)) continue;
    std::vector<JobView> jobs{entry.first->view};
    if (entry.second != nullptr) jobs.push_back(entry.second->view);
    if (!room.take(entry.type, jobs, quotas)) continue;
    entry.first->is_taken = true;
    if (entry.second != nullptr) entry.second->is_taken = true;
    chosen.push_back({entry.first, entry.second, static_cast<std::int32_t>(entry.type)});
  }
  // What is left over stays with those who run there.
  for (auto& [key, job] : jobs_) {
    if (!fills_ || job.is_taken || job.type < 0) continue;
    if (!room.take(static_cast<std::size_t>(job.type), {&job.view, 1}, quotas)) continue;
    job.is_taken = true;
    chosen.push_back({&job, nullptr, job.type});
  }
  line_up(order, cluster.types());
  return chosen;
}

void RoundPolicy::line_up(std::span<const Entry> order, std::size_t types) {
  for (auto& [key, job] : jobs_) job.place = {};
  for (std::size_t t = 0; t < types; ++t) {
    std::set<const Job*> in_line;
    for (const Entry& entry : order)
      for (Job* const job : {entry.first, entry.second}) {
        if (entry.type != t || job == nullptr || job->is_taken || !in_line.insert(job).second) continue;
        const int place = static_cast<int>(in_line.size());
        if (job->place.place == 0 || place < job->place.place)
          job->place = {types > 1 ? static_cast<std::int32_t>(t) : -1, place};
      }
  }
}

void RoundPolicy::start_round(const ClusterView& cluster, SchedulingActions& actions) {
  std::vector<Taken> chosen = choose(cluster);
  std::ranges::sort(chosen, {}, [&](const Taken& each) {
    return std::tuple{-each.first->view.gpus, ties_.at(each.first->view.id), each.first->view.id};
  });
  std::vector<GpuGroup> groups;
  for (const Taken& each : chosen) {
    groups.push_back({{each.first->view.id}, each.type});
    if (each.second != nullptr) groups.back().jobs.push_back(each.second->view.id);
  }
  std::vector<JobId> running, rest;
  for (const auto& [key, job] : jobs_) {
    if (job.type >= 0) running.push_back(key.second);
    if (fills_ && !job.is_taken) rest.push_back(key.second);
  }
  run_groups(cluster, actions, groups, running, rest);
  for (const GpuGroup& group : groups) {  // those that were preempted are other objects now
    std::vector<Job*> there;
    for (const JobId id : group.jobs)
      if (cluster.job(id).running) there.push_back(&jobs_.at({ties_.at(id), id}));
    for (Job* const job : there) {
      job->type = group.type;
      job->partner = JobId::none();
      for (const Job* const other : there)
        if (other != job) job->partner = other->view.id;
    }
  }
}

void RoundPolicy::fill(const ClusterView& cluster, SchedulingActions& actions) {
  std::vector<JobId> waiting;
  for (const auto& [key, job] : jobs_)
    if (job.type < 0 && job.view.gpus <= cluster.free_gpus_of_vc(job.view.vc)) waiting.push_back(key.second);
  for (const JobId id : waiting)
    if (actions.start(id)) jobs_.at({ties_.at(id), id}).type = std::max(0, cluster.job(id).server_type);
}

void RoundPolicy::pass(const ClusterView& cluster, SchedulingActions& actions) {
  const Time now = cluster.now();
  if (jobs_.empty()) {
    next_round_ = now;
    counted_until_ = now;
    return;
  }
  count_time(now);
  if (now >= next_round_) {
    const bool is_due = divided_at_ == Time::never() || now - divided_at_ >= reallocate_after_;
    const std::vector<int> gpus = gpus_of(cluster);
    const bool has_gpus = std::ranges::any_of(gpus, [](int of_type) { return of_type > 0; });
    if ((has_changed_ || divided_gpus_ != gpus) && has_gpus && is_due) reallocate(cluster, actions);
    start_round(cluster, actions);
    next_round_ = now + round_;
  }
  if (fills_) fill(cluster, actions);
  if (!actions.recording()) return;
  for (const auto& [key, job] : jobs_) {
    if (job.type >= 0) continue;
    actions.blocked(key.second, job.is_taken           ? Why::no_place
                                : !job.alone.has_share ? Why::between_decisions
                                : job.place.place == 0 ? Why::passed_over
                                                       : Why::throttled);
    if (!job.is_taken && job.place.place > 0) actions.in_line(key.second, job.place);
  }
}

Time RoundPolicy::next_decision(const ClusterView&) {
  return jobs_.empty() ? Time::never() : next_round_;
}

}  // namespace contend
