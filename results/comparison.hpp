#pragma once
// Compares several scenarios: each figure as a mean over replicas with its confidence interval, and the average
// completion time relative to the first scenario under the same seeds.

#include "results/replica.hpp"
#include "sim/statistics.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

struct ComparisonRow {
  std::vector<Estimate> figures;  ///< in the order of metrics()
  /// Average JCT relative to row 0: geometric mean of the ratios seed by seed, and ratio of the means over seeds.
  /// Absent if the seeds differ.
  std::optional<RatioEstimate> jct_ratio, jct_ratio_of_means;
  /// Of the two-sided t test of jct_ratio = 1, corrected by Holm for all rows; NaN for row 0 and without an interval.
  double p_value = kNaN;

  [[nodiscard]] const Estimate& figure(std::string_view metric_name) const;
};

/// The number of rows with a p-value.
[[nodiscard]] std::size_t tests_of(std::span<const ComparisonRow> rows);

/// Computes one row for each scenario's replicas.
[[nodiscard]] std::vector<ComparisonRow> compare(std::span<const std::vector<Replica>> scenarios);

}  // namespace contend
