#include "models/workloads/scaling.hpp"

#include "models/workloads/closed_loop.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr double kMost = 9.2e18;  // of 64 bits: nanoseconds, or iterations

Time scaled(Time time, double factor) {
  if (factor == 1) return time;
  return Time::ceil_nanoseconds(std::round(static_cast<double>(time.ns()) * factor));
}

std::vector<std::size_t> jobs_within(std::span<const JobRequest> list, std::optional<int> largest) {
  std::vector<std::size_t> rows;
  for (std::size_t j = 0; j < list.size(); ++j)
    if (!largest || list[j].gpus <= *largest) rows.push_back(j);
  if (rows.empty() && largest)
    throw InputError{fmt::format("workload.scaling.largest: the list has no job of at most {} GPUs", *largest)};
  return rows;
}

/// `share` of the numbers below `count`, in order.
std::vector<std::size_t> subset_of(std::size_t count, double share, std::uint64_t seed) {
  std::vector<std::size_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = i;
  if (share >= 1) return all;
  RandomStream stream{seed, "list.subset"};
  stream.shuffle(std::span{all});
  all.resize(std::max<std::size_t>(1, static_cast<std::size_t>(std::llround(share * static_cast<double>(count)))));
  std::sort(all.begin(), all.end());
  return all;
}

/// Jobs with their own names and submissions, and the demands of jobs that `sampling` draws.
ScaledList drawn(std::span<const JobRequest> list, std::optional<int> largest, const ListSampling& sampling,
                 std::uint64_t seed) {
  const std::vector<std::size_t> within = jobs_within(list, largest);
  std::vector<std::size_t> demands = within;
  if (sampling.bootstrap) {
    RandomStream stream{seed, "list.bootstrap"};
    for (std::size_t& row : demands)
      row = within[static_cast<std::size_t>(stream.uniform_integer(0, static_cast<std::int64_t>(within.size()) - 1))];
  }
  ScaledList result;
  for (const std::size_t i : subset_of(within.size(), sampling.subset, seed)) {
    JobRequest job = list[demands[i]];
    job.name = list[within[i]].name;
    job.submit = list[within[i]].submit;
    job.after = list[within[i]].after;
    job.think = list[within[i]].think;
    job.measured_wait.reset();
    result.jobs.push_back(std::move(job));
    result.rows.push_back(demands[i]);
  }
  forget_absent(result.jobs);
  return result;
}

void scale_iterations(JobRequest& job, const WorkloadScaling& scaling, const IterationTime& iteration) {
  if (scaling.durations != 1) {
    const double iterations = std::max(1.0, std::round(static_cast<double>(job.iterations) * scaling.durations));
    if (iterations > kMost)
      throw InputError{
          fmt::format("workload.scaling.durations: job \"{}\" would have {:g} iterations", job.name, iterations)};
    job.iterations = static_cast<std::int64_t>(iterations);
  }
  if (scaling.longest)
    job.iterations =
        std::min(job.iterations, std::max<std::int64_t>(1, scaling.longest->ns() / iteration(job.model).ns()));
}

void scale_durations(JobRequest& job, const WorkloadScaling& scaling, const IterationTime& iteration) {
  const auto scale = [&](Time& time) {
    if (static_cast<double>(time.ns()) * scaling.durations > kMost)
      throw InputError{fmt::format("workload.scaling.durations: job \"{}\" would take more than 292 years", job.name)};
    time = scaled(time, scaling.durations);
  };
  const auto scale_and_cut = [&](Time& time) {
    scale(time);
    if (scaling.longest) time = std::min(time, *scaling.longest);
  };
  if (job.limit) scale(*job.limit);
  if (job.deadline) {
    scale(*job.deadline);
    job.deadline = std::max(*job.deadline, Time::nanoseconds(1));
  }
  if (!job.duration) return scale_iterations(job, scaling, iteration);
  const Time before = *job.duration;
  scale_and_cut(*job.duration);
  // Its training rate stays.
  if (job.knows_iterations() && before > Time{}) {
    const double factor = job.duration->to_seconds() / before.to_seconds();
    const double iterations = std::round(static_cast<double>(job.iterations) * factor);
    job.iterations = static_cast<std::int64_t>(std::clamp(iterations, 1.0, kMost));
    job.tells_iterations = true;  // even if one is left
  }
  for (Time& attempt : job.attempts) scale_and_cut(attempt);
}

/// The factor on the arrival rate that brings the load to `load`.
double rate_for(double load, const std::vector<JobRequest>& jobs, Time first, Time last, std::int64_t cluster_gpus,
                const IterationTime& iteration) {
  double gpu_seconds = 0;
  for (const JobRequest& job : jobs) gpu_seconds += gpu_seconds_of(job, iteration);
  if (first == last)
    throw InputError{
        "workload.scaling.load: all jobs of the list are submitted at the same time, so they have no arrival rate to "
        "change"};
  if (!(gpu_seconds > 0)) throw InputError{"workload.scaling.load: the jobs of the list need no GPU time"};
  return load * static_cast<double>(cluster_gpus) * (last - first).to_seconds() / gpu_seconds;
}

}  // namespace

ScaledList scale_list(std::span<const JobRequest> list, const WorkloadScaling& scaling, const ListSampling& sampling,
                      std::int64_t cluster_gpus, std::uint64_t seed, const IterationTime& iteration) {
  ResampledList resampled;
  if (sampling.block) {
    resampled = resample(list, {.block = *sampling.block, .replace = sampling.replace}, seed);
    list = resampled.jobs;
  }
  ScaledList result = drawn(list, scaling.largest, sampling, seed);
  if (sampling.block)
    for (std::size_t& row : result.rows) row = resampled.rows[row];
  for (JobRequest& job : result.jobs) scale_durations(job, scaling, iteration);
  if (result.jobs.empty()) return result;
  const Time first = std::ranges::min(result.jobs, {}, &JobRequest::submit).submit;
  const Time last = std::ranges::max(result.jobs, {}, &JobRequest::submit).submit;
  const double rate =
      scaling.load ? rate_for(*scaling.load, result.jobs, first, last, cluster_gpus, iteration) : scaling.rate;
  if (static_cast<double>((last - first).ns()) / rate > static_cast<double>((kLongestJobTime - first).ns()))
    throw InputError{"the jobs would arrive over more than 100 years: workload.scaling.rate or load is too small"};
  for (JobRequest& job : result.jobs) job.submit = first + scaled(job.submit - first, 1 / rate);
  return result;
}

}  // namespace contend
