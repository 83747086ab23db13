#include "sim/fairness.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace contend {

namespace {

/// The number of jobs in the cluster over time, integrated: job seconds since the first event.
class JobsPresent {
 public:
  JobsPresent(std::span<const JobResult> jobs, Time end) {
    std::vector<std::pair<Time, int>> changes;
    for (const JobResult& job : jobs) {
      if (job.state == JobState::submitted || job.state == JobState::failed) continue;
      changes.emplace_back(job.submit, 1);
      changes.emplace_back(job.finish == Time::never() ? end : job.finish, -1);
    }
    std::sort(changes.begin(), changes.end());
    std::int64_t present = 0;
    Int128 sum = 0;
    for (const auto& [time, change] : changes) {
      if (!at_.empty()) sum += Int128{(time - at_.back()).ns()} * present;
      present += change;
      at_.push_back(time);
      sums_.push_back(sum);
    }
  }

  /// Mean over [from, to], both instants of changes, from < to.
  [[nodiscard]] double mean(Time from, Time to) const {
    return static_cast<double>(sum(to) - sum(from)) / static_cast<double>((to - from).ns());
  }

 private:
  [[nodiscard]] Int128 sum(Time time) const {
    return sums_[static_cast<std::size_t>(std::lower_bound(at_.begin(), at_.end(), time) - at_.begin())];
  }

  std::vector<Time> at_;
  std::vector<Int128> sums_;  // until at_
};

/// The job's own time in seconds, all attempts that were made together.
double own_time(const JobSpec& spec, const JobResult& job) {
  return (spec.duration ? job.own : job.held).to_seconds();
}

/// Work in a second on a 1/n share of the cluster, in seconds of the job's own time.
double speed_of_share(const ClusterSpec& cluster, const JobSpec& job, std::span<const JobPace> paces, double n) {
  const double gpus = job.gpus * (job.gpu_share > 0 ? job.gpu_share / static_cast<double>(kWholeGpu) : 1.0);
  if (cluster.types.empty())
    return std::min(1.0, static_cast<double>(gpus_on(cluster, servers_of_type(cluster, -1))) / (n * gpus));
  double shares = 0, speed = 0;
  for (std::int32_t t = 0; t < std::ssize(cluster.types); ++t) {
    if (!may_run_on(cluster, job, paces, t) || !why_never(cluster, job, paces, t).empty()) continue;
    const double share = static_cast<double>(gpus_on(cluster, servers_of_type(cluster, t))) / (n * gpus);
    const std::int64_t pace =
        paces.empty() || !job.duration ? kNominalPace : paces[static_cast<std::size_t>(t)].together;
    shares += share;
    speed += share * static_cast<double>(kNominalPace) / static_cast<double>(pace);
  }
  return shares > 1 ? speed / shares : speed;
}

/// The time of a job with regimes alone on a 1/n share; 0 if it can't run.
double time_in_regimes(const ClusterSpec& cluster, const Workload& workload, const JobSpec& job, double n) {
  double seconds = 0;
  Time from;
  for (const BatchRegime& regime : workload.regimes[static_cast<std::size_t>(job.regimes)]) {
    std::span<const JobPace> paces;
    if (regime.pace >= 0) paces = workload.paces[static_cast<std::size_t>(regime.pace)];
    const double speed = speed_of_share(cluster, job, paces, n);
    if (speed <= 0) return 0;
    seconds += (regime.until - from).to_seconds() / speed;
    from = regime.until;
  }
  return seconds;
}

}  // namespace

void add_finish_time_fairness(const ClusterSpec& cluster, const Workload& workload, RunResult& result) {
  const JobsPresent present{result.jobs, result.end};
  for (JobResult& job : result.jobs) {
    const JobSpec& spec = workload.jobs[job.id.index()];
    if (spec.service >= 0) continue;  // more GPUs of its own bring its last request no sooner
    const double own_s = own_time(spec, job);
    if (job.state != JobState::finished || job.finish == job.submit || own_s <= 0) continue;
    const double n = present.mean(job.submit, job.finish);
    if (spec.regimes >= 0) {
      const double alone_s = time_in_regimes(cluster, workload, spec, n);
      if (alone_s > 0) job.rho = job.jct().to_seconds() / alone_s;
      continue;
    }
    std::span<const JobPace> paces;
    if (spec.pace >= 0) paces = workload.paces[static_cast<std::size_t>(spec.pace)];
    const double speed = speed_of_share(cluster, spec, paces, n);
    if (speed > 0) job.rho = job.jct().to_seconds() * speed / own_s;
  }
}

}  // namespace contend
