#include "scenarios/twin/run_history.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace contend {

RunHistory::RunHistory(std::span<const JobRequest> ended) {
  for (const JobRequest& job : ended) {
    if (!job.duration || *job.duration == Time{}) continue;
    for (Sample* const sample : {&users_[job.user], &all_}) {
      sample->durations.push_back(job.duration->ns());
      if (job.limit && *job.limit > Time{})
        sample->parts.push_back(job.duration->to_seconds() / job.limit->to_seconds());
    }
  }
  const auto sort = [](Sample& sample) {
    std::ranges::sort(sample.parts);
    std::ranges::sort(sample.durations);
  };
  for (auto& [user, sample] : users_) sort(sample);
  sort(all_);
}

Time duration_by_limit(const JobRequest& job) {
  const Time duration = job.limit.value_or(*job.duration);
  return job.elapsed ? std::max(duration, *job.elapsed + Time::seconds(1)) : duration;
}

Time RunHistory::draw(const JobRequest& job, const Quantiles& at) const {
  const std::int64_t done = job.elapsed.value_or(Time{}).ns();
  const auto drawn_from = [&](const Sample& sample, double quantile) -> std::optional<Time> {
    const bool by_parts = job.limit && !sample.parts.empty();
    const double limit = by_parts ? static_cast<double>(job.limit->ns()) : 0;
    const auto duration = [&](std::size_t i) {
      return by_parts ? std::llround(sample.parts[i] * limit) : sample.durations[i];
    };
    std::size_t first = 0, last = by_parts ? sample.parts.size() : sample.durations.size();
    const std::size_t end = last;
    while (first < last) {  // the first that ran longer
      const std::size_t middle = (first + last) / 2;
      if (duration(middle) > done)
        last = middle;
      else
        first = middle + 1;
    }
    const std::size_t jobs = end - first;
    const auto pick = static_cast<std::size_t>(quantile * static_cast<double>(jobs + 1));
    if (pick >= jobs) return std::nullopt;
    return Time::nanoseconds(duration(first + pick));
  };
  if (const auto own = users_.find(job.user); own != users_.end())
    if (const std::optional<Time> drawn = drawn_from(own->second, at.of_user)) return *drawn;
  return drawn_from(all_, at.of_all).value_or(duration_by_limit(job));
}

}  // namespace contend
