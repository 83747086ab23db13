#include "results/warm_up.hpp"

#include "sim/check.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace contend {
namespace {

constexpr std::size_t kBatch = 5, kFewestLeft = 5;

/// The finished measured jobs in order of submission.
std::vector<const StoredJob*> in_order(const StoredReplica& run) {
  std::vector<const StoredJob*> jobs;
  for (const StoredJob& job : run.jobs)
    if (job.measured && job.state == JobState::finished) jobs.push_back(&job);
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const StoredJob* a, const StoredJob* b) { return a->submit < b->submit; });
  return jobs;
}

/// Times of all waits; of a folder that does not tell them, the time of the first.
Time waiting_of(const StoredJob& job) {
  return job.waited.value_or(*job.start - job.submit);
}
Time jct_of(const StoredJob& job) {
  return *job.finish - job.submit;
}

/// At least `time`, and less than a hundredth more, so that it has few digits.
Time handy(Time time) {
  constexpr std::int64_t kSecond = 1'000'000'000, kSteps = 100;
  for (const std::int64_t unit : {3600 * kSecond, 60 * kSecond, kSecond, kSecond / 1000}) {
    if (time.ns() <= kSteps * unit) continue;
    return Time::nanoseconds((time.ns() + unit - 1) / unit * unit);
  }
  return time;
}

}  // namespace

std::optional<std::size_t> mser_5(std::span<const double> series) {
  if (series.size() < kFewestForWarmUp) return std::nullopt;
  const std::size_t batches = series.size() / kBatch;
  double least = std::numeric_limits<double>::infinity(), batch_mean = 0, squares = 0;
  std::size_t cut = 0;
  // From the last batch to the first, so that mean and squares belong to the jobs that a cut would leave (Welford,
  // 1962).
  for (std::size_t d = batches; d-- > 0;) {
    const double value = mean(series.subspan(d * kBatch, kBatch));
    const auto left = static_cast<double>(batches - d);
    const double before = value - batch_mean;
    batch_mean += before / left;
    squares += before * (value - batch_mean);
    if (batches - d < kFewestLeft || squares / (left * left) > least) continue;
    least = squares / (left * left);
    cut = d * kBatch;
  }
  return cut;
}

WarmUp find_warm_up(std::span<const StoredReplica> runs) {
  CONTEND_CHECK(!runs.empty(), "a warm-up is one of runs");
  std::vector<std::vector<const StoredJob*>> jobs;
  WarmUp found;
  found.jobs = std::numeric_limits<std::size_t>::max();
  for (const StoredReplica& run : runs) found.jobs = std::min(found.jobs, jobs.emplace_back(in_order(run)).size());
  constexpr double kNoWaiting = 0.01;
  const auto series_of = [&](Time (*time)(const StoredJob&)) {
    std::vector<double> means(found.jobs, 0);
    for (const auto& of_run : jobs)
      for (std::size_t i = 0; i < found.jobs; ++i)
        means[i] += time(*of_run[i]).to_seconds() / static_cast<double>(jobs.size());
    return means;
  };
  std::vector<double> series = series_of(waiting_of);
  std::vector<double> completion = series_of(jct_of);
  found.of_waiting = found.jobs == 0 || mean(series) >= kNoWaiting * mean(completion);
  if (!found.of_waiting) series = std::move(completion);
  found.mean_s = found.mean_after_s = mean(series);
  const std::optional<std::size_t> cut = mser_5(series);
  if (!cut) return found;
  constexpr std::size_t kParts = 10;
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::size_t first = part * found.jobs / kParts, end = (part + 1) * found.jobs / kParts;
    found.tenths_s.push_back(mean(std::span{series}.subspan(first, end - first)));
  }
  found.cut = *cut;
  found.verdict = 2 * found.cut > found.jobs ? WarmUp::Verdict::undecided
                  : found.cut > 0            ? WarmUp::Verdict::found
                                             : WarmUp::Verdict::none;
  if (found.verdict != WarmUp::Verdict::found) return found;
  for (const auto& of_run : jobs) found.from = std::max(found.from, of_run[found.cut]->submit);
  found.from = handy(found.from);
  found.mean_after_s = mean(std::span{series}.subspan(found.cut));
  return found;
}

}  // namespace contend
