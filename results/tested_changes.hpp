#pragma once
// Changes of several figures at once, each with a test of no change. With twelve figures one of twenty neutral changes
// would show in about every second table; so the p-values are corrected for the number of tests (holm_adjusted()).

#include "results/paired_change.hpp"
#include "results/result_columns.hpp"

#include <span>
#include <vector>

namespace contend {

/// Below this corrected p-value a change is called significant: the tests are two-sided, so it is the level of the 95%
/// interval.
inline constexpr double kTwoSidedLevel = 0.05;

struct MetricChange {
  const Metric* metric = nullptr;
  PairedChange change;
  /// Of the two-sided t test of no change, corrected for all tests of the table. NaN without an interval, and where
  /// nothing changed under any seed.
  double p_value = kNaN;

  [[nodiscard]] bool is_significant() const { return p_value <= kTwoSidedLevel; }
};

/// Changes of times are told relative, those of shares and counts as a difference.
[[nodiscard]] bool is_told_relative(const Metric& metric);
/// The change that tables show and tests look at.
[[nodiscard]] const ChangeEstimate& told_change(const MetricChange& change);

/// The p-value of the two-sided t test of no change, for one test alone; NaN without an interval, and where nothing
/// changed under any seed.
[[nodiscard]] double chance_of_none(const ChangeEstimate& change);

/// Sets the p-values of all these changes, as tests that are made together, and returns their number.
std::size_t test_together(std::span<MetricChange* const> changes);

}  // namespace contend
