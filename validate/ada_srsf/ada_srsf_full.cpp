// Measures the published gains at full scale, over 30 job mixes.

#include "results/comparison.hpp"
#include "scenarios/run/batch.hpp"
#include "sim/statistics.hpp"
#include "validate/ada_srsf/ada_srsf.hpp"
#include "validate/published.hpp"

#include <algorithm>
#include <thread>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr int kSeeds = 30;

struct Row {
  std::string_view name;
  std::string_view placement;
  std::string_view communication;
};
// The placements are compared under two communication policies: the authors' scripts used Ada-SRSF for all of their
// placement runs, and SRSF(1) is free of the defect of their AdaDUAL code (docs/validation/ada-srsf.md).
constexpr Row kRows[] = {
    {"first-fit, AdaDUAL", "first-fit", "ada-dual"},
    {"first-fit, SRSF(1)", "first-fit", "{policy: srsf, ways: 1}"},
    {"LWF-1, SRSF(1)", "{policy: lwf, kappa: 1}", "{policy: srsf, ways: 1}"},
    {"LWF-1, SRSF(2)", "{policy: lwf, kappa: 1}", "{policy: srsf, ways: 2}"},
    {"LWF-1, AdaDUAL", "{policy: lwf, kappa: 1}", "ada-dual"},
};
constexpr std::size_t kFirstFitAda = 0, kFirstFitSrsf1 = 1, kSrsf1 = 2, kSrsf2 = 3, kAda = 4;

using Replicas = std::vector<Replica>;

std::vector<double> averages(const Replicas& replicas) {
  std::vector<double> values;
  for (const Replica& replica : replicas) values.push_back(replica.summary.avg_jct_s);
  return values;
}

void print_policies(std::FILE* out, const std::vector<Replicas>& results) {
  fmt::print(out, "  {:<22}{:>18}{:>11}{:>10}{:>10}{:>12}{:>12}\n", "policies", "avg JCT [s]", "median", "p95",
             "GPU util", "net util", "contended");
  const std::vector<ComparisonRow> rows = compare(results);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Estimate& jct = rows[i].figure("avg_jct_s");
    fmt::print(out, "  {:<22}{:>18}{:>11.0f}{:>10.0f}{:>9.1f}%{:>11.1f}%{:>11.1f}%\n", kRows[i].name,
               fmt::format("{:.0f} +- {:.0f}", jct.mean, jct.half_width), rows[i].figure("median_jct_s").mean,
               rows[i].figure("p95_jct_s").mean, 100 * rows[i].figure("gpu_utilisation").mean,
               100 * rows[i].figure("network_utilisation").mean, 100 * rows[i].figure("contended_share").mean);
  }
}

/// A ratio of average JCTs under the same seeds.
struct Gain {
  RatioEstimate ratio;     ///< geometric mean over seeds
  double of_averages = 0;  ///< ratio of the averages over seeds
  double smallest = 0, largest = 0;
};

Gain gain(const Replicas& numerator, const Replicas& denominator) {
  const std::vector<double> above = averages(numerator), below = averages(denominator);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < above.size(); ++i) ratios.push_back(above[i] / below[i]);
  return {paired_ratio(above, below), mean(above) / mean(below), *std::min_element(ratios.begin(), ratios.end()),
          *std::max_element(ratios.begin(), ratios.end())};
}

void print_ratio(std::FILE* out, std::string_view what, const Gain& gain, const PublishedFigure& published) {
  fmt::print(out, "  {:<44}{:>12}{:>24}{:>13.3f}{:>18}\n", what,
             fmt::format("{} {}", published.qualifier, published.value),
             fmt::format("{:.3f} [{:.3f}, {:.3f}]", gain.ratio.ratio, gain.ratio.low, gain.ratio.high),
             gain.of_averages, fmt::format("{:.3f}..{:.3f}", gain.smallest, gain.largest));
}

/// `ratio` is JCT with over JCT without; what is saved is 1 minus it, so the ends of intervals change places.
void print_saving(std::FILE* out, std::string_view what, const Gain& gain, const PublishedFigure& published) {
  const auto saved = [](double ratio) { return 100 * (1 - ratio); };
  fmt::print(
      out, "  {:<44}{:>12}{:>24}{:>13}{:>18}\n", what, fmt::format("{:.1f}%", 100 * published.value),
      fmt::format("{:.1f}% [{:.1f}, {:.1f}]", saved(gain.ratio.ratio), saved(gain.ratio.high), saved(gain.ratio.low)),
      fmt::format("{:.1f}%", saved(gain.of_averages)),
      fmt::format("{:.1f}..{:.1f}%", saved(gain.largest), saved(gain.smallest)));
}

bool all_finished(const std::vector<Replicas>& results) {
  for (const Replicas& replicas : results) {
    for (const Replica& replica : replicas) {
      if (replica.summary.finished != replica.summary.jobs) return false;
    }
  }
  return true;
}

}  // namespace

int validate_ada_srsf_full(std::FILE* out) {
  std::vector<Scenario> scenarios;
  for (const Row& row : kRows) {
    scenarios.push_back(ada_srsf_scenario(row.placement, row.communication, {fmt::format("repeat={}", kSeeds)}));
  }
  fmt::print(out, "ada-srsf-full: 160 jobs of 1000 to 6000 iterations on 64 GPUs, seeds 1 to {}\n\n", kSeeds);
  std::fflush(out);
  BatchHooks hooks;
  hooks.threads = std::max(1U, std::thread::hardware_concurrency());
  const std::vector<Replicas> results = run_batch(scenarios, hooks);

  print_policies(out, results);
  fmt::print(out, "\n  {:<44}{:>12}{:>24}{:>13}{:>18}\n", "average JCT", "published", "ours [95% interval]",
             "of averages", "over seeds");
  const Gain placement_ada = gain(results[kFirstFitAda], results[kAda]);
  const Gain placement_srsf = gain(results[kFirstFitSrsf1], results[kSrsf1]);
  print_ratio(out, "first-fit / LWF-1, both under AdaDUAL", placement_ada, published::kLwfOverFirstFit);
  print_ratio(out, "first-fit / LWF-1, both under SRSF(1)", placement_srsf, published::kLwfOverFirstFit);
  print_saving(out, published::kAdaSrsfOverSrsf1.what, gain(results[kAda], results[kSrsf1]),
               published::kAdaSrsfOverSrsf1);
  print_saving(out, published::kAdaSrsfOverSrsf2.what, gain(results[kAda], results[kSrsf2]),
               published::kAdaSrsfOverSrsf2);
  fmt::print(out,
             "\n  ours: geometric mean of the ratios under equal seeds, 95% Student-t interval; then the ratio of the "
             "averages\n  over seeds, and the smallest and largest ratio of a single seed\n  published: {}\n",
             published::kAdaSrsfSource);

  const bool finished = all_finished(results);
  const bool placement_decided = placement_ada.ratio.low > 1 && placement_srsf.ratio.low > 1;
  fmt::print(out, "\n  every job finished: {}\n  LWF-1 is better than first-fit, both intervals above 1: {}\n",
             finished ? "ok" : "FAILED", placement_decided ? "ok" : "FAILED");
  const bool holds = finished && placement_decided;
  fmt::print(out, "\nada-srsf-full: {}\n", holds ? "passed" : "FAILED");
  return holds ? 0 : 1;
}

}  // namespace contend
