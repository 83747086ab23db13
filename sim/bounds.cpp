#include "sim/bounds.hpp"

#include "sim/cluster_view.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <vector>

namespace contend {

namespace {

/// A job on a machine as fast as all GPUs, in seconds from the first submission.
struct FastJob {
  double submit = 0, work = 0;
};

/// Sums over the jobs of a machine that does one at a time: their ends, and the means of the instants at which they are
/// worked on.
struct FastSums {
  double ends = 0, busy = 0;
};

/// Does the job first that has the least work left, or had the least in all. `jobs` are in order of submission.
FastSums on_fast_machine(std::span<const FastJob> jobs, bool by_remaining) {
  using Entry = std::pair<double, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<double> left;
  for (const FastJob& job : jobs) left.push_back(job.work);
  FastSums sums;
  double now = 0;
  for (std::size_t next = 0; next < jobs.size() || !ready.empty();) {
    if (ready.empty()) now = std::max(now, jobs[next].submit);
    for (; next < jobs.size() && jobs[next].submit <= now; ++next) ready.emplace(jobs[next].work, next);
    const auto [key, job] = ready.top();
    ready.pop();
    const bool ends = next == jobs.size() || now + left[job] <= jobs[next].submit;
    const double until = ends ? now + left[job] : jobs[next].submit;
    sums.busy += jobs[job].work > 0 ? (until - now) / jobs[job].work * (now + until) / 2 : now;
    if (ends) {
      sums.ends += until;
    } else {
      left[job] -= until - now;
      ready.emplace(by_remaining ? left[job] : key, job);
    }
    now = until;
  }
  return sums;
}

/// The pace at which a job is fastest, on any of the servers; 0: it can't run there.
std::int64_t fastest(std::span<const JobPace> paces) {
  std::int64_t least = 0;
  for (const JobPace& each : paces)
    for (const std::int64_t pace : {each.together, each.together > 0 ? each.spread : 0})
      if (pace > 0 && (least == 0 || pace < least)) least = pace;
  return least;
}

Time at(Time time, std::int64_t pace) {
  return Time::nanoseconds(static_cast<std::int64_t>(Int128{time.ns()} * pace / kNominalPace));
}

/// The least that jobs of iterations compute, by graph.
class LeastComputing {
 public:
  explicit LeastComputing(const Workload& workload) : workload_{workload} {}

  LeastWork of(const JobSpec& job) {
    if (job.pace < 0) return of(job, job.graph);
    LeastWork least{job.submit, Time::never(), GpuTime::unlimited()};
    for (const JobPace& each : workload_.paces[static_cast<std::size_t>(job.pace)]) {
      if (each.together == 0) continue;
      const LeastWork there = of(job, each.graph < 0 ? job.graph : static_cast<std::size_t>(each.graph));
      least = {job.submit, std::min(least.time, there.time), std::min(least.work, there.work)};
    }
    return least.time == Time::never() ? LeastWork{job.submit, {}, {}} : least;
  }

 private:
  /// Of a graph: what each rank computes in an iteration, by role and phase; empty if that isn't always all.
  using Computes = std::vector<std::vector<Time>>;

  const Computes& computes(std::size_t index) {
    const auto [known, is_new] = known_.try_emplace(index);
    const IterationGraph& graph = workload_.graphs[index];
    const auto drops = [](const Role& role) { return role.late > 0 || role.patience.has_value(); };
    const bool is_torn = index < workload_.torn.size() && !workload_.torn[index].groups.empty();
    if (!is_new || is_torn || std::ranges::any_of(graph.roles(), drops)) return known->second;
    for (std::size_t r = 0; r < graph.roles().size(); ++r) {
      std::vector<Time>& phases = known->second.emplace_back();
      for (std::size_t p = 0; p < graph.phases().count(); ++p) phases.push_back(graph.compute_per_rank(RoleId{r}, p));
    }
    return known->second;
  }

  LeastWork of(const JobSpec& job, std::size_t index) {
    LeastWork least{job.submit, {}, {}};
    const IterationGraph& graph = workload_.graphs[index];
    const Computes& all = computes(index);
    for (std::size_t r = 0; r < all.size(); ++r) {
      Time time;
      for (std::size_t p = 0; p < all[r].size(); ++p) time += all[r][p] * graph.phases().left(p, 0, job.iterations);
      least.time = std::max(least.time, time);
      least.work += GpuTime{time, graph.roles()[r].ranks};
    }
    return least;
  }

  const Workload& workload_;
  std::map<std::size_t, Computes> known_;
};

/// Of a job with a duration: its time at its own pace and with its own number of GPUs, at least.
Time own_time(const JobSpec& job, const BoundRules& rules) {
  const auto length = [&](Time attempt) {
    return rules.kills_at_limit && job.limit ? std::min(attempt, *job.limit) : attempt;
  };
  Time all = length(*job.duration), shortest = all;
  for (const Time attempt : job.attempts) {
    all += length(attempt);
    shortest = std::min(shortest, length(attempt));
  }
  return rules.kills_at_limit || rules.limits_attempts ? shortest : all;  // the others may not be made
}

LeastWork of_timed(const Workload& workload, const JobSpec& job, const BoundRules& rules) {
  LeastWork least{job.submit, {}, {}};
  if (job.regimes >= 0) return least;  // their paces change with the training
  const Time own = own_time(job, rules);
  if (job.sizes < 0) {
    const std::int64_t pace = job.pace < 0 ? kNominalPace : fastest(workload.paces[static_cast<std::size_t>(job.pace)]);
    least.time = rules.kills_at_limit ? std::min(own, at(own, pace)) : at(own, pace);
    least.work = GpuTime{least.time, job.gpus};
  } else {
    least = {job.submit, Time::never(), GpuTime::unlimited()};
    for (const JobSize& size : workload.sizes[static_cast<std::size_t>(job.sizes)]) {
      const std::int64_t pace = fastest(size.paces);
      if (pace == 0) continue;
      const Time time = rules.kills_at_limit ? std::min(own, at(own, pace)) : at(own, pace);
      least = {job.submit, std::min(least.time, time), std::min(least.work, GpuTime{time, size.gpus})};
    }
    if (least.time == Time::never()) return {job.submit, {}, {}};
  }
  if (job.gpu_share > 0) least.work = GpuTime::nanoseconds(least.work.ns() * job.gpu_share / kWholeGpu);
  return least;
}

}  // namespace

LowerBounds lower_bounds(std::span<const LeastWork> jobs, std::int64_t gpus, Time first_submit, bool relaxed) {
  LowerBounds bounds;
  if (jobs.empty()) return bounds;
  std::vector<FastJob> fast;
  double least_s = 0, area_s = 0, end_s = 0, submits_s = 0;
  for (const LeastWork& job : jobs) {
    fast.push_back({(job.submit - first_submit).to_seconds(), job.work.to_seconds() / static_cast<double>(gpus)});
    least_s += job.time.to_seconds();
    submits_s += fast.back().submit;
    end_s = std::max(end_s, fast.back().submit + job.time.to_seconds());
  }
  std::ranges::stable_sort(fast, {}, &FastJob::submit);
  for (std::size_t i = fast.size(); i-- > 0;) {
    area_s += fast[i].work;
    end_s = std::max(end_s, fast[i].submit + area_s);
  }
  double sum_s = least_s;
  if (relaxed)
    sum_s = std::max({sum_s, on_fast_machine(fast, true).ends - submits_s,
                      on_fast_machine(fast, false).busy - submits_s + least_s / 2});
  bounds.avg_jct_s = sum_s / static_cast<double>(jobs.size());
  bounds.makespan_s = end_s;
  return bounds;
}

void add_lower_bounds(const ClusterSpec& cluster, const Workload& workload, const BoundRules& rules,
                      RunResult& result) {
  LeastComputing computing{workload};
  std::vector<LeastWork> jobs;
  Time first = Time::never();
  bool any_follows = false;
  for (const JobResult& job : result.jobs)
    if (job.measured) first = std::min(first, job.submit);
  for (const JobResult& job : result.jobs) {
    if (!job.measured || job.state != JobState::finished) continue;
    const JobSpec& spec = workload.jobs[job.id.index()];
    LeastWork least{job.submit, {}, {}};
    if (spec.service >= 0)
      least.time = *spec.duration;  // its requests come until then, whenever it starts
    else if (spec.duration)
      least = of_timed(workload, spec, rules);
    else if (spec.sizes < 0)
      least = computing.of(spec);
    if (!rules.counts_gpu_time) least.work = {};
    least.submit = job.follows ? first : job.submit;
    any_follows = any_follows || job.follows;
    jobs.push_back(least);
  }
  result.bounds = lower_bounds(jobs, gpus_on(cluster, servers_of_type(cluster, -1)), first, !any_follows);
}

}  // namespace contend
