#pragma once
// Bootstrap confidence intervals for the change between two sides, from pairs of observations: the same seed, or the
// same job, on both sides.
//
// Whole pairs are resampled with replacement, which keeps the variation common to both sides out of the interval. The
// 95% interval is BCa (bias-corrected and accelerated; Efron, "Better Bootstrap Confidence Intervals", JASA 82 (1987);
// Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), section 14.3): changes of completion times are
// skewed, and for skewed data BCa covers the truth more often than plain percentiles. It is still too narrow for very
// few pairs: see kFewPairs.
//
// The computation uses its own random stream, so the same pairs give the same bits on every machine.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace contend {

/// With fewer pairs a 95% interval covers the truth less than 90% of the time, even for a normal distribution
/// (tests/results/bootstrap_test.cpp).
inline constexpr std::size_t kFewPairs = 10;

/// Seed of the streams of resamples; any number will do as long as it stays the same.
inline constexpr std::uint64_t kBootstrapSeed = 1;

/// A 95% interval; both ends are NaN if there is none.
struct ConfidenceInterval {
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
  [[nodiscard]] bool exists() const { return low <= high; }
};

/// A figure on both sides and its change; NaN if the figure has no value.
struct PairedChange {
  double base = 0, other = 0;
  double difference = 0;             ///< other - base
  double relative = 0;               ///< other / base - 1; 0 for 0 / 0, infinite for x / 0
  ConfidenceInterval difference_95;  ///< none for fewer than two pairs
  ConfidenceInterval relative_95;    ///< none either if the base may be 0
};

/// The number of resamples for `pairs` pairs: 10 000, or fewer if that would take long, but at least 400.
[[nodiscard]] std::size_t resample_count(std::size_t pairs);

// In the functions below, element i of both spans is a pair and both spans have the same length. Equal seeds give equal
// resamples for every figure.

/// The change of arithmetic means.
[[nodiscard]] PairedChange change_of_means(std::span<const double> base, std::span<const double> other,
                                           std::uint64_t seed);
/// The change of percentiles as percentile() computes them, 0 < fraction < 1. The interval is without acceleration,
/// because the jackknife that estimates it fails for percentiles (Efron and Tibshirani, section 11.6).
[[nodiscard]] PairedChange change_of_percentiles(std::span<const double> base, std::span<const double> other,
                                                 double fraction, std::uint64_t seed);
/// The change of a single pair of values, without an interval.
[[nodiscard]] PairedChange plain_change(double base, double other);

/// The cumulative distribution function of a normal distribution, within 1e-8; 0 and 1 beyond 6 standard deviations.
[[nodiscard]] double normal_cumulative(double x);
/// The inverse of normal_cumulative(), between -6 and 6.
[[nodiscard]] double normal_quantile(double p);

/// The BCa interval from the statistic over all pairs (`observed`), over each resample (`draws`), and over all pairs
/// but one (jackknife; empty for no acceleration).
[[nodiscard]] ConfidenceInterval bca_interval(double observed, std::vector<double> draws,
                                              std::span<const double> leave_one_out);

}  // namespace contend
