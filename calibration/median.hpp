#pragma once
// The median of repeated measurements and how well it is known. Times of kernels have a sharp lower end and a long
// tail, so nothing here assumes a distribution.

#include <cstddef>
#include <span>

namespace contend {

struct MedianInterval {
  double median = 0;
  double lower = 0, upper = 0;  ///< infinite where there are too few samples
  /// Half the interval as a share of the median; infinite where there are too few samples.
  [[nodiscard]] double half_width() const;
};

/// The fewest samples that give an interval of 95%: the least and the largest of n enclose the median with probability
/// 1 - 2^(1-n), which 6 bring to 0.969.
inline constexpr std::size_t kLeastForInterval = 6;

/// The median (mean of the middle two of an even number) and the narrowest interval between the j-th least and the j-th
/// largest sample that holds the true median with probability >= 95% whatever the distribution of independent samples:
/// 1 - 2 P(B(n, 1/2) < j) (David and Nagaraja, Order Statistics, 3rd ed., section 7.1). At least one sample, all
/// finite.
[[nodiscard]] MedianInterval median_interval(std::span<const double> samples);

/// Samples further above the median than 3.5 deviations, the deviation taken from the median of absolute deviations
/// (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993), or from 1% of the median if that is more, because a
/// clock ticks: an interrupt, another process. The median doesn't mind them; a person may.
[[nodiscard]] std::size_t count_outliers(std::span<const double> samples);

/// Whether samples, in order of time, move on the whole: the second half is nearly always above the first, or nearly
/// always below (sign test of Cox and Stuart, Biometrika 42, 1955, at 1%), and their medians differ by more than the
/// share `tolerance`. Never with fewer than 16 samples.
[[nodiscard]] bool drifts(std::span<const double> samples, double tolerance);

}  // namespace contend
