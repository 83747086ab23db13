#pragma once
// Queries a store: figures by groups of points, with confidence intervals over seeds and ratios to a baseline.

#include "results/tested_changes.hpp"
#include "scenarios/spec/sweep_spec.hpp"
#include "scenarios/sweep/sweep_store.hpp"
#include "sim/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// What the runs of a point have in common, as the scenario of the sweep says; independent if it can't be read any
/// more.
[[nodiscard]] Draws draws_of(const StoreInfo& info);

/// A query; parameters go by key or column, metrics by name.
struct ResultsQuery {
  std::vector<std::string> group_by;   ///< empty: all parameters, so each point is a group
  std::vector<std::string> metrics;    ///< empty: the usual ones of the kind of study; `all`: all
  std::vector<SweepDimension> where;   ///< only points with one of the listed values of each
  std::vector<SweepSetting> baseline;  ///< empty: the sweep's own baseline, if it has one
  /// A grouping of jobs of the store: each group of points has a row for each group of jobs, with figures of these jobs
  /// alone. In a run without any job of a group its counts are 0 and its other figures have no value.
  std::optional<std::string> jobs_by{};
};

/// The points with equal grouping values. A figure is averaged first over the points of each seed and then over seeds,
/// so that its interval predicts other seeds; a seed without a value at some point is left out.
struct ResultsGroup {
  std::vector<SqlValue> values;   ///< of the grouping parameters
  std::vector<double> numbers;    ///< of quantities; NaN for other parameters
  std::vector<Estimate> figures;  ///< of each metric; `count` is the number of runs it is based on
  /// Of each metric to the baseline under the same seeds; empty without a baseline. Over several points the geometric
  /// mean goes over the ratios of points and seeds. The p-values are corrected by Holm for all tests of the table.
  std::vector<TestedRatio> ratios;
};

/// The answer to a query.
struct ResultsTable {
  std::vector<StoreParameter> parameters;
  std::vector<StoreMetric> metrics;
  bool compares = false;             ///< the groups have ratios
  std::vector<ResultsGroup> groups;  ///< in the order of their first points
  std::size_t tests = 0;             ///< for which the p-values are corrected
  std::int64_t runs = 0;             ///< runs with results that the query covers
  std::int64_t failed = 0;
  std::int64_t unfinished =
      0;  ///< of `runs`, those in which not all jobs finished, so that averages are over the others
};

/// Answers a query. Throws InputError for unknown names, with the nearest name, and for a grouping that is not stored.
[[nodiscard]] ResultsTable query_results(SweepStore& store, const ResultsQuery& query);

/// The table as CSV, one row a group: parameters, `runs`, and for each metric its mean, `NAME_ci95` (half the width of
/// the interval), `NAME_ratio`, `NAME_ratio_low` and `NAME_ratio_high`, the same of `NAME_ratio_of_means`,
/// `NAME_p` and `NAME_detectable`.
[[nodiscard]] std::string results_csv(const ResultsTable& table);
/// The view `results` in the order of the runs: the canonical table, byte-identical however the sweep was split or
/// interrupted.
[[nodiscard]] std::string runs_csv(SweepStore& store, const std::vector<SweepDimension>& where);
/// The same by groups of jobs, a row for each run and group: run, point, seed, the parameters, `grouping`, `value` and
/// the figures of these jobs. Throws InputError for a grouping that is not stored.
[[nodiscard]] std::string groups_csv(SweepStore& store, const std::vector<SweepDimension>& where,
                                     const std::vector<std::string>& groupings);

}  // namespace contend
