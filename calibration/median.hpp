#pragma once
// The median of repeated measurements and its confidence interval. Kernel times have a sharp lower end and a long tail,
// so nothing here assumes a distribution.

#include <cstddef>
#include <span>

namespace contend {

struct MedianInterval {
  double median = 0;
  double lower = 0, upper = 0;  ///< infinite if there are too few samples
  /// Half the interval as a share of the median; infinite if there are too few samples.
  [[nodiscard]] double half_width() const;
};

/// The fewest samples that give a 95% interval: the least and the largest of n enclose the median with probability 1 -
/// 2^(1-n), which is 0.969 for 6.
inline constexpr std::size_t kLeastForInterval = 6;

/// The median (mean of the middle two of an even number) and the narrowest interval between the j-th least and the j-th
/// largest sample that holds the true median with probability >= 95% whatever the distribution of independent samples:
/// 1 - 2 P(B(n, 1/2) < j) (David and Nagaraja, Order Statistics, 3rd ed., section 7.1). At least one sample, all
/// finite.
[[nodiscard]] MedianInterval median_interval(std::span<const double> samples);

/// The number of samples more than 3.5 deviations above the median, such as an interrupt or another process causes. The
/// deviation is the median absolute deviation (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993), but at
/// least 1% of the median, because the clock has ticks. Outliers do not move the median; people may want to know about
/// them.
[[nodiscard]] std::size_t count_outliers(std::span<const double> samples);

/// True if the samples, in order of time, have a trend: the second half is nearly always above the first or nearly
/// always below (sign test of Cox and Stuart, Biometrika 42, 1955, at 1%), and the medians of the halves differ by more
/// than the share `tolerance`. Never with fewer than 16 samples.
[[nodiscard]] bool drifts(std::span<const double> samples, double tolerance);

}  // namespace contend
