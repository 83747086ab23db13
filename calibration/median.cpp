#include "calibration/median.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace contend {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kLevel = 0.05, kDriftLevel = 0.01;
constexpr double kOutlier = 3.5, kLeastDeviation = 0.01;
/// Median absolute deviation of a normal distribution, in standard deviations.
constexpr double kNormalMad = 0.6745;

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> out{samples.begin(), samples.end()};
  std::sort(out.begin(), out.end());
  return out;
}

double middle(const std::vector<double>& sorted_samples) {
  const std::size_t half = sorted_samples.size() / 2;
  return sorted_samples.size() % 2 == 1 ? sorted_samples[half] : (sorted_samples[half - 1] + sorted_samples[half]) / 2;
}

/// The largest j with P(B(n, 1/2) < j) <= level / 2; 0 if there is none.
std::size_t rank_of(std::size_t n, double level) {
  const auto trials = static_cast<double>(n);
  double log_term = -trials * std::log(2.0), below = 0;
  for (std::size_t j = 0; j <= n / 2; ++j) {
    below += std::exp(log_term);  // now P(B <= j)
    if (below > level / 2) return j;
    log_term += std::log((trials - static_cast<double>(j)) / (static_cast<double>(j) + 1));
  }
  return n / 2;
}

}  // namespace

double MedianInterval::half_width() const {
  if (upper == lower) return 0;
  return std::isfinite(upper) ? (upper - lower) / (2 * median) : kInfinite;
}

MedianInterval median_interval(std::span<const double> samples) {
  CONTEND_CHECK(!samples.empty(), "a median of nothing");
  const std::vector<double> order = sorted(samples);
  MedianInterval out{.median = middle(order), .lower = -kInfinite, .upper = kInfinite};
  if (const std::size_t j = rank_of(order.size(), kLevel); j >= 1) {
    out.lower = order[j - 1];
    out.upper = order[order.size() - j];
  }
  return out;
}

std::size_t count_outliers(std::span<const double> samples) {
  if (samples.empty()) return 0;
  const double median = middle(sorted(samples));
  std::vector<double> deviations;
  for (const double each : samples) deviations.push_back(std::abs(each - median));
  std::sort(deviations.begin(), deviations.end());
  const double limit = median + kOutlier * std::max(middle(deviations) / kNormalMad, kLeastDeviation * median);
  return static_cast<std::size_t>(std::count_if(samples.begin(), samples.end(), [&](double s) { return s > limit; }));
}

bool drifts(std::span<const double> samples, double tolerance) {
  const std::size_t half = samples.size() / 2;
  if (half == 0) return false;
  const std::span<const double> first = samples.first(half), second = samples.last(half);
  std::size_t up = 0, down = 0;
  for (std::size_t i = 0; i < half; ++i) {
    if (second[i] > first[i]) ++up;
    if (second[i] < first[i]) ++down;
  }
  const std::size_t fewest = rank_of(up + down, kDriftLevel);
  if (fewest == 0 || std::min(up, down) >= fewest) return false;
  const double before = middle(sorted(first)), after = middle(sorted(second));
  return std::abs(after - before) > tolerance * before;
}

}  // namespace contend
