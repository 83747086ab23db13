#include "models/workloads/fitted.hpp"

#include "models/workloads/fitted_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace contend {
namespace {

bool deviates_little(double least, double most) {
  return least >= 1 - kGainDeviation && most <= 1 + kGainDeviation;
}

/// "0.08 to 0.19"
/// Two digits or, of a large ratio, the whole number: 0.36, 2.6, 320.
std::string ratio_text_of(double ratio) {
  constexpr double kTwoDigits = 100;
  return ratio < kTwoDigits ? fmt::format("{:.2g}", ratio) : fmt::format("{:.0f}", ratio);
}

std::string range_text(double least, double most) {
  return fmt::format("{} to {}", ratio_text_of(least), ratio_text_of(most));
}

}  // namespace

const std::vector<const FittedWorkload*>& fitted_workloads() {
  static const std::vector<FittedWorkload> tables = read_fitted_workloads(fitted_tables());
  static const std::vector<const FittedWorkload*> all = [] {
    std::vector<const FittedWorkload*> each;
    for (const FittedWorkload& table : tables) each.push_back(&table);
    return each;
  }();
  return all;
}

const FittedWorkload* find_fitted_workload(std::string_view name) {
  for (const FittedWorkload* each : fitted_workloads()) {
    if (each->name == name) return each;
  }
  return nullptr;
}

std::vector<std::string> fitted_workload_names() {
  std::vector<std::string> names;
  for (const FittedWorkload* each : fitted_workloads()) names.emplace_back(each->name);
  return names;
}

bool queues_like_trace(const QueueingFidelity& fidelity) {
  return fidelity.fifo_least * kQueueingFactor >= 1 && fidelity.fifo_most <= kQueueingFactor &&
         deviates_little(fidelity.sjf_least, fidelity.sjf_most) &&
         deviates_little(fidelity.easy_least, fidelity.easy_most);
}

std::string ranking_caveat(const FittedWorkload& fit) {
  const QueueingFidelity& found = fit.queueing;
  if (queues_like_trace(found)) return {};
  constexpr std::string_view kRemedy =
      "where the order of policies matters, replay a real list of jobs (workload.jobs)";
  if (!(found.fifo_least > 0)) {
    return fmt::format(
        "don't rank policies by jobs like `{}`: how long they queue was never compared with the trace; {}", fit.name,
        kRemedy);
  }
  return fmt::format(
      "don't rank policies by jobs like `{}`: at loads from 0.6 to 0.9 they queue {} times as long as those of the "
      "trace under FIFO, SJF gains {} times as much, and EASY {} times; {}",
      fit.name, range_text(found.fifo_least, found.fifo_most), range_text(found.sjf_least, found.sjf_most),
      range_text(found.easy_least, found.easy_most), kRemedy);
}

int largest_size(const FittedWorkload& fit, std::optional<int> limit) {
  int largest = 0;
  for (const SizeClass& sizes : fit.classes) {
    for (const SizeWeight& size : sizes.sizes) {
      if (!limit || size.gpus <= *limit) largest = std::max(largest, size.gpus);
    }
  }
  return largest;
}

double duration_quantile(const SizeClass& sizes, double p) {
  const auto& grid = kDurationProbabilities;
  const auto above = std::upper_bound(grid.begin() + 1, grid.end() - 1, p);
  const auto i = static_cast<std::size_t>(above - grid.begin());
  const double a = sizes.durations[i - 1];
  const double b = sizes.durations[i];
  const double f = (p - grid[i - 1]) / (grid[i] - grid[i - 1]);
  return a + (b - a) * f / (f + (1 - f) * std::sqrt(b / a));
}

}  // namespace contend
