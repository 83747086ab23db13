#pragma once
// The change of a figure between two sides that ran under the same seeds, with 95% confidence intervals over the seeds.
//
// The change of a figure is the geometric mean of its ratios, seed by seed, and its interval is Student's t on the
// logarithms: a seed with long queues counts as much as one with short ones. Beside it stands the ratio of the means
// with an interval by the delta method, which is what the sum over all seeds does. docs/validation/intervals.md shows
// how often these intervals contain the truth.

#include "sim/statistics.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// With fewer pairs than this a report says that it has few. Intervals are correct for fewer, but wide, and an interval
/// of few pairs relies on the distribution of changes being symmetric.
inline constexpr std::size_t kUsualPairs = 20;
/// What a report says of two pairs or more that are fewer: `5 seeds are few: take 20 or more ...`, where `what` is
/// "seeds" or "resamples". Empty otherwise.
[[nodiscard]] std::string few_pairs_note(std::size_t pairs, std::string_view what);

/// A 95% interval; both ends are NaN if there is none.
struct ConfidenceInterval {
  double low = kNaN;
  double high = kNaN;
  [[nodiscard]] bool exists() const { return low <= high; }
};

/// A change, and what its interval and tests stand on.
struct ChangeEstimate {
  double value = kNaN;
  ConfidenceInterval interval_95;  ///< none for fewer than two pairs, and for a change that is the same in all of them
  double error = kNaN;             ///< standard error, of log(1 + value) if `logarithmic`; NaN without an interval
  bool logarithmic = false;
  std::size_t degrees_of_freedom = 0;
  /// How much further the interval reaches upwards and downwards than Student's t, as factors: not 1 where the scatter
  /// is skewed. Every test counts errors by the factor of its side, so that an amount is outside of the interval
  /// exactly if its test has p < 0.05 (two-sided).
  double upwards = 1, downwards = 1;

  /// The smallest increase that this many pairs with this scatter show in four of five comparisons: (t(0.975) + t(0.8))
  /// standard errors. NaN without an interval.
  [[nodiscard]] double detectable() const;
  /// detectable() where the interval contains no change: what stands beside such an interval in every report. NaN
  /// elsewhere, and where nothing changed under any seed.
  [[nodiscard]] double detectable_beside_none() const;
  /// The probability of a change at least as far beyond `amount`, above it or below, as this one, if the true change
  /// were `amount`: the one-sided t test that belongs to the interval. NaN without an interval.
  [[nodiscard]] double chance_beyond(double amount, bool above) const;
};

/// A figure on both sides, as means over the pairs, and its change; NaN if the figure has no value.
struct PairedChange {
  double base = kNaN, other = kNaN;
  ChangeEstimate difference;  ///< other - base
  ChangeEstimate relative;    ///< geometric mean of other / base, less 1; `of_means` unless all values are positive
  ChangeEstimate of_means;    ///< mean of other / mean of base, less 1; 0 for 0 / 0, infinite for x / 0
};

/// The change from pairs: element i of both spans comes from the same seed. Without intervals if a value is missing.
[[nodiscard]] PairedChange paired_change(std::span<const double> base, std::span<const double> other,
                                         Draws draws = Draws::independent);

/// What resamples of a job list, in blocks, can't show by their scatter.
struct BlockScatter {
  std::size_t blocks = 0;  ///< of the list, two or more
  /// The error of a figure over the error of resamples whose blocks are independent, >= 1: what one block says about
  /// the next.
  double correlation = 1;
};
/// The change of one pair of values, of a job list as it is, with an interval from resamples of the list, whose
/// elements i come from the same seed. The error is the scatter of the resamples, times `correlation`, and, as
/// resampling breaks what lasts longer than a block, the distance of their mean from the list's own change: the root of
/// the sum of squares. Student's t has as many degrees of freedom as there are resamples or blocks, whichever are
/// fewer, less one. So an interval contains the list's own change and the mean of the resamples.
///
/// The interval reaches further to the side where the resamples have their long tail: the end z normal errors away goes
/// to z / (1 - a z)^2 (ABC; Efron, "Better Bootstrap Confidence Intervals", JASA 82, 1987; DiCiccio and Efron,
/// Biometrika 79, 1992), where the acceleration a is a sixth of the resamples' skewness (Efron, equation 7.3). That
/// formula has a pole at a z = 1, so it is taken at the normal quantile z = 1.96 alone, whatever t is, and a is at most
/// 0.1 either way, since few resamples don't tell it better: no end is further away than 1.55 times the end of
/// Student's t interval.
///
/// No interval is wider than twice the interval of Student's t without correlation and skewness: where it would be, the
/// error is reduced until it isn't.
///
/// There is no interval for the ratio of the means, which is the same change here.
[[nodiscard]] PairedChange resampled_change(double base, double other, std::span<const double> base_drawn,
                                            std::span<const double> other_drawn, const BlockScatter& blocks);
/// The change of a single pair of values.
[[nodiscard]] PairedChange plain_change(double base, double other);

/// Holm's correction for several tests at once (Scandinavian Journal of Statistics 6, 1979): the p-values that may be
/// compared with one level, so that the probability of any false alarm stays below it. NaN values stay.
[[nodiscard]] std::vector<double> holm_adjusted(std::span<const double> p_values);

}  // namespace contend
