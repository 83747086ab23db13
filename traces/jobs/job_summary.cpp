#include "traces/jobs/job_summary.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr double kHour = 3600;
constexpr std::int64_t kHourNs = std::int64_t{3600} * 1'000'000'000;

double gpu_hours_of(const JobRequest& job) {
  return job.duration ? gpu_seconds_of(job) / kHour : 0;
}

Distribution distribution(std::vector<double> values) {
  Distribution result;
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  const auto quantile = [&](std::size_t percent) {
    const std::size_t rank = (values.size() * percent + 99) / 100;
    return values[std::max<std::size_t>(rank, 1) - 1];
  };
  double sum = 0;
  for (const double value : values) sum += value;
  result.count = values.size();
  result.mean = sum / static_cast<double>(values.size());
  result.min = values.front();
  result.p25 = quantile(25);
  result.median = quantile(50);
  result.p75 = quantile(75);
  result.p90 = quantile(90);
  result.p99 = quantile(99);
  result.max = values.back();
  return result;
}

/// In order of the keys.
template <class Key, class KeyOf, class NameOf>
std::vector<JobGroup> groups(std::span<const JobRequest> jobs, KeyOf key_of, NameOf name_of) {
  std::map<Key, JobGroup> by_key;
  for (const JobRequest& job : jobs) {
    JobGroup& group = by_key[key_of(job)];
    ++group.jobs;
    group.gpu_hours += gpu_hours_of(job);
  }
  std::vector<JobGroup> all;
  for (auto& [key, group] : by_key) {
    group.name = name_of(key);
    all.push_back(std::move(group));
  }
  return all;
}

void summarise_arrivals(std::span<const JobRequest> jobs, JobSummary& summary) {
  Time first = jobs.front().submit;
  Time last = first;
  for (const JobRequest& job : jobs) {
    first = std::min(first, job.submit);
    last = std::max(last, job.submit);
  }
  summary.first_submit = first;
  summary.last_submit = last;
  const double hours = (last - first).to_seconds() / kHour;
  if (hours > 0) {
    summary.jobs_per_hour = static_cast<double>(jobs.size() - 1) / hours;
    summary.mean_busy_gpus = summary.gpu_hours / hours;
  }
  std::map<std::int64_t, std::int64_t> by_hour;
  for (const JobRequest& job : jobs) ++by_hour[(job.submit - first).ns() / kHourNs];
  for (const auto& [hour, count] : by_hour) {
    if (count <= summary.peak_hour_jobs) continue;
    summary.peak_hour_jobs = count;
    summary.peak_hour = hour;
  }
}

}  // namespace

JobSummary summarise_jobs(std::span<const JobRequest> jobs) {
  JobSummary summary;
  summary.jobs = static_cast<std::int64_t>(jobs.size());
  if (jobs.empty()) return summary;
  std::vector<double> durations, waits;
  std::vector<double> gpus;
  std::set<std::string_view> users;
  for (const JobRequest& job : jobs) {
    if (job.duration) durations.push_back(job.duration->to_seconds());
    if (job.measured_wait) waits.push_back(job.measured_wait->to_seconds());
    gpus.push_back(job.gpus);
    if (!job.user.empty()) users.insert(job.user);
    if (!job.attempts.empty()) ++summary.retried_jobs;
    summary.gpu_hours += gpu_hours_of(job);
  }
  summary.timed_jobs = static_cast<std::int64_t>(durations.size());
  summary.users = static_cast<std::int64_t>(users.size());
  summary.duration_s = distribution(std::move(durations));
  summary.measured_wait_s = distribution(std::move(waits));
  summary.gpus = distribution(std::move(gpus));
  summary.sizes = groups<int>(
      jobs, [](const JobRequest& job) { return job.gpus; }, [](int size) { return fmt::format("{}", size); });
  summary.vcs = groups<std::string_view>(
      jobs, [](const JobRequest& job) { return std::string_view{job.vc}; },
      [](std::string_view name) { return std::string{name}; });
  std::stable_sort(summary.vcs.begin(), summary.vcs.end(),
                   [](const JobGroup& a, const JobGroup& b) { return a.jobs > b.jobs; });
  summary.outcomes = groups<JobOutcome>(
      jobs, [](const JobRequest& job) { return job.outcome; },
      [](JobOutcome outcome) { return std::string{to_string(outcome)}; });
  summarise_arrivals(jobs, summary);
  return summary;
}

}  // namespace contend
