#pragma once
// How sure a change between two sides is, from pairs of observations: the same seed, or the same job, on both sides.
//
// Pairs are drawn anew with replacement, which keeps what the two sides have in common out of the interval. The 95%
// interval of the draws is BCa (bias-corrected and accelerated; Efron, "Better Bootstrap Confidence Intervals", JASA 82
// (1987); Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), section 14.3): changes of completion times
// are skewed, and where they are BCa covers the truth more often than the plain percentiles of the draws do. It is
// still too narrow for very few pairs: kFewPairs.
//
// Everything here is arithmetic on a stream of its own, so the same pairs give the same bits everywhere.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace contend {

/// With fewer pairs an interval of 95% covers the truth less than 90% of the time, even for a normal distribution
/// (tests/results/bootstrap_test.cpp).
inline constexpr std::size_t kFewPairs = 10;

/// Both NaN where there is no interval.
struct ConfidenceInterval {
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
  [[nodiscard]] bool exists() const { return low <= high; }
};

/// A figure on both sides and its change; NaN where a figure has no value.
struct PairedChange {
  double base = 0, other = 0;
  double difference = 0;             ///< other - base
  double relative = 0;               ///< other / base - 1; 0 for 0 / 0, infinite for x / 0
  ConfidenceInterval difference_95;  ///< none for fewer than two pairs
  ConfidenceInterval relative_95;    ///< nor if the base may be 0
};

/// How many times `pairs` are drawn: 10 000, less where that would take long, never below 400.
[[nodiscard]] std::size_t resample_count(std::size_t pairs);

// Value i of both spans is a pair; both have the same length. The same seed gives the same resamples for every figure.

/// Of arithmetic means.
[[nodiscard]] PairedChange change_of_means(std::span<const double> base, std::span<const double> other,
                                           std::uint64_t seed);
/// Of percentiles as by percentile(), 0 < fraction < 1. Without acceleration, because the jackknife that measures it
/// fails for percentiles (Efron and Tibshirani, section 11.6).
[[nodiscard]] PairedChange change_of_percentiles(std::span<const double> base, std::span<const double> other,
                                                 double fraction, std::uint64_t seed);
/// Without an interval.
[[nodiscard]] PairedChange plain_change(double base, double other);

/// Of a normal distribution, within 1e-8; 0 and 1 beyond 6 standard deviations.
[[nodiscard]] double normal_cumulative(double x);
/// Its inverse, between -6 and 6.
[[nodiscard]] double normal_quantile(double p);

/// The interval from the statistic over all pairs, over each resample, and over all pairs but one (jackknife; empty: no
/// acceleration).
[[nodiscard]] ConfidenceInterval bca_interval(double observed, std::vector<double> draws,
                                              std::span<const double> leave_one_out);

}  // namespace contend
