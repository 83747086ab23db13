#pragma once
// Changes of several figures at once, each with a test of no change. With twelve figures one of twenty neutral changes
// would show in about every second table; so the p-values are corrected for the number of tests (holm_adjusted()).

#include "results/paired_change.hpp"
#include "results/result_columns.hpp"

#include <span>

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

/// The ratio of a figure on two sides that ran under the same seeds, with all that a table of ratios tells of it.
struct TestedRatio {
  RatioEstimate geometric{kNaN, kNaN, kNaN};  ///< geometric mean of the ratios seed by seed, which the test is about
  RatioEstimate of_means{kNaN, kNaN, kNaN};
  /// Beside an interval of `geometric` that contains 1, the smallest increase that these seeds would show, as a share
  /// (ChangeEstimate::detectable_beside_none()); NaN elsewhere.
  double detectable = kNaN;
  double p_value = kNaN;  ///< as in a MetricChange
};

/// The ratio own / base; element i of both spans comes from the same seed. Its p-value belongs to one test alone.
[[nodiscard]] TestedRatio tested_ratio(std::span<const double> own, std::span<const double> base,
                                       Draws draws = Draws::independent);

/// Changes of times and throughputs are told relative, changes of shares and counts as a difference.
[[nodiscard]] bool is_told_relative(const Metric& metric);
/// The change that tables show and tests look at.
[[nodiscard]] const ChangeEstimate& told_change(const MetricChange& change);

/// The p-value of the two-sided t test of no change, for one test alone; NaN without an interval, and where nothing
/// changed under any seed.
[[nodiscard]] double chance_of_none(const ChangeEstimate& change);

/// Sets the p-values of all these changes, as tests that are made together, and returns their number.
std::size_t test_together(std::span<MetricChange* const> changes);
/// Corrects the p-values of all these ratios, as tests that are made together, and returns their number.
std::size_t test_together(std::span<TestedRatio* const> ratios);

}  // namespace contend
