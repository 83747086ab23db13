#pragma once
// Compares several scenarios: each figure as a mean over replicas with its confidence interval, and the average
// completion time relative to the first scenario under the same seeds.

#include "results/replica.hpp"
#include "results/tested_changes.hpp"
#include "sim/statistics.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

struct ComparisonRow {
  std::vector<Estimate> figures;  ///< in the order of metrics()
  /// Average JCT relative to row 0, with a p-value that is corrected for all rows. Absent if the seeds differ.
  std::optional<TestedRatio> jct_ratio;

  [[nodiscard]] const Estimate& figure(std::string_view metric_name) const;
};

/// The number of rows with a p-value.
[[nodiscard]] std::size_t tests_of(std::span<const ComparisonRow> rows);

/// A figure of one side of several, run by run.
struct SeededFigure {
  std::vector<std::uint64_t> seeds;
  std::vector<double> values;  ///< by seed
  Draws draws = Draws::independent;
};

[[nodiscard]] SeededFigure seeded_figure(const Metric& metric, std::span<const Replica> replicas);

/// Each side relative to the first, tested together; nothing for a side with other seeds.
[[nodiscard]] std::vector<std::optional<TestedRatio>> ratios_to_first(std::span<const SeededFigure> sides);

/// Computes one row for each scenario's replicas.
[[nodiscard]] std::vector<ComparisonRow> compare(std::span<const std::vector<Replica>> scenarios);

}  // namespace contend
