#pragma once
// --until-precise: seeds are added until 95% intervals are narrow enough, or a budget of seeds is spent.

#include "cli/command.hpp"
#include "results/replica.hpp"
#include "results/result_columns.hpp"
#include "scenarios/scenario.hpp"
#include "sim/statistics.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// What --until-precise asks for.
struct Precision {
  std::string text;  ///< the share as the user wrote it
  double share = 0;  ///< half of an interval, as a share of the value that the interval is about
  const Metric* metric = nullptr;
  std::size_t most_seeds = 0;

  /// How many seeds to add to `seeds`, after which the widest interval has this half width: as many as the scatter so
  /// far asks for, and at least a quarter of `seeds`, up to the most. 0 if it is narrow enough, if the most have run,
  /// and for NaN after two seeds or more, because a run without a value stays without one.
  [[nodiscard]] std::size_t seeds_to_add(double half_width, std::size_t seeds) const;
  /// What was reached: `40 seeds: the 95% interval of the average JCT is within 1.9% of it`, of one or `several`.
  [[nodiscard]] std::string reached(double half_width, std::size_t seeds, bool several) const;
};

/// The precision that the user asks for, or nothing. Throws UsageError.
[[nodiscard]] std::optional<Precision> precision_of(const Arguments& arguments);
/// Throws UsageError if the scenario has no more workloads to draw, or begins with more seeds than the most.
void check_precision(const Precision& wanted, const WorkloadSetup& workload, const IterationStudy& study, int repeat);
/// The seeds with which a search for precision begins, where neither the command line nor the scenario says: fewer may
/// have a narrow interval by chance.
[[nodiscard]] int first_seeds(const Arguments& arguments, int repeat);

/// Half the 95% interval of a ratio, in logarithms.
[[nodiscard]] double half_width_of(const RatioEstimate& ratio);
/// Half the 95% interval of a mean, as a share of it.
[[nodiscard]] double half_width_of(const Estimate& mean);

/// Runs scenarios; an interrupted run has fewer results.
using MoreRuns = std::function<std::vector<std::vector<Replica>>(std::span<const Scenario>)>;

/// Adds seeds to all scenarios, and their results to `results`, until the intervals are precise: of the ratios to the
/// first scenario, or of the mean of the only one. Each scenario's `repeat` is then the number of its seeds. Returns a
/// line about what was reached; nothing if the user interrupted.
[[nodiscard]] std::optional<std::string> run_until_precise(const Precision& wanted, std::vector<Scenario>& scenarios,
                                                           std::vector<std::vector<Replica>>& results,
                                                           const MoreRuns& run);

}  // namespace contend
