#pragma once
// These are the statistics that summaries and comparisons need: percentiles, means with a confidence interval, and the
// ratio of two policies over the same seeds.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace contend {

/// The value of a statistic over no values.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Arithmetic mean; NaN for no values.
[[nodiscard]] double mean(std::span<const double> values);

/// Sample standard deviation (divisor n - 1); NaN for fewer than two values.
[[nodiscard]] double sample_deviation(std::span<const double> values);

/// Sample skewness, corrected for its bias as a moment (G1 of Joanes and Gill, The Statistician 47, 1998): positive if
/// the long tail is above the mean. 0 for fewer than three values or values that are all equal; NaN if one is NaN.
[[nodiscard]] double sample_skewness(std::span<const double> values);

/// The value below which the share `fraction` (0..1) of the values lies, interpolating linearly between order
/// statistics (R's type 7, NumPy's default); NaN for no values.
[[nodiscard]] double percentile(std::vector<double> values, double fraction);

/// 0.975 quantile of Student's t distribution: half the width of a 95% confidence interval in standard errors. NaN for
/// 0 degrees of freedom.
[[nodiscard]] double student_t_975(std::size_t degrees_of_freedom);

/// What the values of an estimate have in common.
enum class Draws : std::uint8_t {
  independent,  ///< each is of a newly drawn workload: the more there are, the better their mean is known
  resamples,    ///< each is of one workload, resampled: their scatter is the error of that workload's own figure (Efron
                ///< and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 6), however many there are
};

/// A mean over replicas and the half-width of its 95% Student-t confidence interval, NaN for fewer than two values.
struct Estimate {
  double mean = 0;
  double half_width = 0;
  std::size_t count = 0;
};
[[nodiscard]] Estimate estimate(std::span<const double> values, Draws draws = Draws::independent);

/// True if each of two quantities has one value under all seeds, and these values differ: most likely the seeds made
/// the same run several times, which says nothing about chance. The change then has no interval.
[[nodiscard]] bool are_without_scatter(std::span<const double> a, std::span<const double> b);

/// A ratio of two quantities with its 95% confidence interval.
struct RatioEstimate {
  double ratio = 0;
  double low = 0;  ///< NaN for fewer than two pairs, and if these are without scatter
  double high = 0;
};
/// The geometric mean of the ratios of two positive quantities. It is computed from the logarithms of the ratios, so
/// exchanging the two quantities gives the reciprocals.
/// Both spans have the same length, and value i of each comes from the same seed. NaN unless every value is positive.
[[nodiscard]] RatioEstimate paired_ratio(std::span<const double> numerators, std::span<const double> denominators,
                                         Draws draws = Draws::independent);

/// The ratio of the means of two quantities under the same seeds: how a sum over many weeks changes, in which weeks
/// with long times count more. `ratio` is mean / mean here, and its 95% interval is Student's t with the standard error
/// of the delta method (Cochran, Sampling Techniques, 3rd edition, 1977, equation 6.9). NaN unless the denominators
/// have a positive mean.
[[nodiscard]] RatioEstimate ratio_of_means(std::span<const double> numerators, std::span<const double> denominators,
                                           Draws draws = Draws::independent);

}  // namespace contend
