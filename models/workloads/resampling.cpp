#include "models/workloads/resampling.hpp"

#include "models/workloads/closed_loop.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

namespace contend {
namespace {

/// Ranks of the values from 0, equal values sharing their mean rank.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (std::size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<double>(first + end - 1) / 2;
  }
  return ranks;
}

/// From the first submission to the last.
double covered_days(std::span<const JobRequest> list) {
  if (list.empty()) return 0;
  const auto [first, last] = std::ranges::minmax(list, {}, &JobRequest::submit);
  return (last.submit - first.submit).to_seconds() / 86'400;
}

/// The first autocorrelation of a series.
double lag_1_of(const std::vector<double>& series) {
  const double center = mean(series);
  double squares = 0, products = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    squares += (series[i] - center) * (series[i] - center);
    if (i > 0) products += (series[i] - center) * (series[i - 1] - center);
  }
  return squares > 0 ? products / squares : kNaN;
}

}  // namespace

Blocks blocks_of(std::span<const JobRequest> list, Time length) {
  Blocks blocks{.begin = {}, .length = length, .jobs = {}};
  if (list.empty()) return blocks;
  const auto [earliest, latest] = std::ranges::minmax(list, {}, &JobRequest::submit);
  blocks.begin = earliest.submit;
  const auto block_at = [&](Time time) { return static_cast<std::size_t>((time - blocks.begin).ns() / length.ns()); };
  const std::size_t last = block_at(latest.submit);
  constexpr double kWhole = 0.9;
  const Time covered = latest.submit - blocks.begin - static_cast<std::int64_t>(last) * length;
  const bool is_whole = static_cast<double>(covered.ns()) >= kWhole * static_cast<double>(length.ns());
  blocks.jobs.resize(last > 0 && !is_whole ? last : last + 1);
  for (std::size_t j = 0; j < list.size(); ++j)
    if (const std::size_t block = block_at(list[j].submit); block < blocks.jobs.size()) blocks.jobs[block].push_back(j);
  return blocks;
}

ResampledList resample(std::span<const JobRequest> list, const Resampling& resampling, std::uint64_t seed) {
  const Blocks blocks = blocks_of(list, resampling.block);
  if (blocks.jobs.size() < 2)
    throw InputError{fmt::format(
        "workload.resample.block: {:g} days are too long: the list has submissions of {:.3g} days, and needs two whole "
        "blocks at least",
        resampling.block.to_seconds() / 86'400, covered_days(list))};
  std::vector<std::size_t> drawn(blocks.jobs.size());
  std::iota(drawn.begin(), drawn.end(), std::size_t{0});
  RandomStream stream{seed, "list.resample"};
  if (resampling.replace) {
    const auto last = static_cast<std::int64_t>(blocks.jobs.size()) - 1;
    drawn.pop_back();
    for (std::size_t& block : drawn) block = static_cast<std::size_t>(stream.uniform_integer(0, last));
  } else {
    stream.shuffle(std::span{drawn});
  }
  ResampledList result;
  for (std::size_t place = 0; place < drawn.size(); ++place) {
    const Time moved = blocks.length * (static_cast<std::int64_t>(place) - static_cast<std::int64_t>(drawn[place]));
    for (const std::size_t row : blocks.jobs[drawn[place]]) {
      JobRequest& job = result.jobs.emplace_back(list[row]);
      job.name = fmt::format("{}~{}", job.name, place + 1);
      for (std::string& before : job.after) before += fmt::format("~{}", place + 1);
      job.submit = job.submit + moved;
      job.measured_wait.reset();
      result.rows.push_back(row);
    }
  }
  forget_absent(result.jobs);
  if (result.jobs.empty())
    throw InputError{"workload.resample: none of the blocks that were drawn has a job; choose longer blocks"};
  return result;
}

BlockCorrelation correlation_of_blocks(std::span<const JobRequest> list, Time length, const IterationTime& iteration) {
  const Blocks blocks = blocks_of(list, length);
  std::vector<double> work;
  for (const std::vector<std::size_t>& block : blocks.jobs) {
    double gpu_seconds = 0;
    for (const std::size_t row : block) gpu_seconds += gpu_seconds_of(list[row], iteration);
    work.push_back(gpu_seconds);
  }
  const auto count = static_cast<double>(work.size());
  return {.blocks = work.size(), .lag_1 = lag_1_of(ranks_of(work)), .limit = 1.959963984540054 / std::sqrt(count)};
}

double lost_correlation(const BlockCorrelation& units, double units_of_block) {
  constexpr double kMost = 0.8, kNormal85 = 1.0364333894937898;
  if (std::isnan(units.lag_1)) return 1;
  const double count = static_cast<double>(units.blocks), lag_1 = units.lag_1;
  const double error = std::sqrt(std::max(0.0, 1 - lag_1 * lag_1) / count);
  const double r = std::clamp(lag_1 + (1 + 3 * lag_1) / count + kNormal85 * error, 0.0, kMost);
  double kept = 1, power = r;
  for (double k = 1; k < units_of_block; ++k, power *= r) kept += 2 * (1 - k / units_of_block) * power;
  return std::sqrt((1 + r) / (1 - r) / kept);
}

ChosenBlock choose_block(std::span<const JobRequest> list, const IterationTime& iteration) {
  constexpr std::int64_t kFewest = kFewestBlocks, kDaysOfWeek = 7;
  constexpr Time kOneDay = Time::seconds(86'400);
  ChosenBlock chosen{.length = kOneDay, .days = correlation_of_blocks(list, kOneDay, iteration)};
  const auto days = static_cast<std::int64_t>(chosen.days.blocks);
  if (days >= kFewest) {
    const std::int64_t of_block = chosen.days.is_significant() ? std::min(days / kFewest, kDaysOfWeek) : 1;
    chosen.length = of_block * kOneDay;
    chosen.blocks = blocks_of(list, chosen.length).jobs.size();
    chosen.lost_correlation = lost_correlation(chosen.days, static_cast<double>(of_block));
    return chosen;
  }
  const Time covered = list.empty() ? Time{}
                                    : std::ranges::max(list, {}, &JobRequest::submit).submit -
                                          std::ranges::min(list, {}, &JobRequest::submit).submit;
  if (covered == Time{})
    throw InputError{"all jobs of the list are submitted at the same time, so it has no blocks to resample"};
  // Whole seconds, and a little more, so that the last submission is in the last block.
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t part = covered.ns() / kFewest;
  chosen.length = part < kSecond ? Time::nanoseconds(part + 1) : Time::seconds(part / kSecond + 1);
  const BlockCorrelation shorter = correlation_of_blocks(list, chosen.length, iteration);
  chosen.blocks = shorter.blocks;
  chosen.lost_correlation = lost_correlation(shorter, 1);
  return chosen;
}

}  // namespace contend
