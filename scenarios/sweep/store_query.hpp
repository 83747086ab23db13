#pragma once
// Questions to a store: figures by groups of points, with confidence intervals over seeds and ratios to a baseline.

#include "scenarios/sweep/sweep_spec.hpp"
#include "scenarios/sweep/sweep_store.hpp"
#include "sim/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// Parameters go by key or column, metrics by name.
struct ResultsQuery {
  std::vector<std::string> group_by;   ///< none: by all parameters, so by points
  std::vector<std::string> metrics;    ///< none: the usual ones of the kind of study; `all`: all
  std::vector<SweepDimension> where;   ///< only points that have one of the values of each
  std::vector<SweepSetting> baseline;  ///< none: that of the sweep, if it has one
};

/// Points that have the grouping values in common. A figure is first averaged over the points, seed by seed, and then
/// over seeds, so that its interval says what other seeds would do; seeds that lack a value at a point are left out.
struct ResultsGroup {
  std::vector<SqlValue> values;       ///< of the parameters
  std::vector<double> numbers;        ///< of quantities; NaN for others
  std::vector<Estimate> figures;      ///< of each metric; `count` is the number of runs behind it
  std::vector<RatioEstimate> ratios;  ///< to the baseline under the same seeds (geometric mean); empty if there is none
};

struct ResultsTable {
  std::vector<StoreParameter> parameters;
  std::vector<StoreMetric> metrics;
  bool compares = false;             ///< there are ratios
  std::vector<ResultsGroup> groups;  ///< in the order of their first points
  std::int64_t runs = 0;             ///< with results, of those asked for
  std::int64_t failed = 0;
};

/// Throws InputError for names that the store doesn't know, with the nearest.
[[nodiscard]] ResultsTable query_results(SweepStore& store, const ResultsQuery& query);

/// A row a group: parameters, `runs`, and for each metric its mean, `NAME_ci95` (half the width of the interval), and
/// `NAME_ratio`, `NAME_ratio_low`, `NAME_ratio_high`.
[[nodiscard]] std::string results_csv(const ResultsTable& table);
/// The view `results` in order of the runs: the canonical table, equal to the byte for any split and interruption.
[[nodiscard]] std::string runs_csv(SweepStore& store, const std::vector<SweepDimension>& where);

}  // namespace contend
