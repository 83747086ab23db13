#include "sim/statistics.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace contend {

double mean(std::span<const double> values) {
  if (values.empty()) return kNaN;
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double sample_deviation(std::span<const double> values) {
  if (values.size() < 2) return kNaN;
  const double center = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double sample_skewness(std::span<const double> values) {
  if (values.size() < 3) return 0;
  const double center = mean(values), n = static_cast<double>(values.size());
  double squares = 0, cubes = 0;
  for (const double value : values) {
    const double distance = value - center;
    squares += distance * distance;
    cubes += distance * distance * distance;
  }
  if (squares == 0) return 0;
  return cubes / n / std::pow(squares / n, 1.5) * std::sqrt(n * (n - 1)) / (n - 2);
}

double percentile(std::vector<double> values, double fraction) {
  CONTEND_CHECK(fraction >= 0 && fraction <= 1, "a percentile is a share of the values");
  if (values.empty()) return kNaN;
  std::sort(values.begin(), values.end());
  const double position = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= values.size()) return values.back();
  const double weight = position - static_cast<double>(below);
  return values[below] + weight * (values[below + 1] - values[below]);
}

double student_t_975(std::size_t degrees_of_freedom) {
  static constexpr std::array kTable = {
      12.7062047, 4.3026527, 3.1824463, 2.7764451, 2.5705818, 2.4469119, 2.3646243, 2.3060041, 2.2621572, 2.2281389,
      2.2009852,  2.1788128, 2.1603687, 2.1447867, 2.1314495, 2.1199053, 2.1098156, 2.1009220, 2.0930241, 2.0859634,
      2.0796138,  2.0738731, 2.0686576, 2.0638986, 2.0595386, 2.0555294, 2.0518305, 2.0484071, 2.0452296, 2.0422725};
  if (degrees_of_freedom == 0) return kNaN;
  if (degrees_of_freedom <= kTable.size()) return kTable[degrees_of_freedom - 1];
  // Beyond the table the expansion in 1/v about the normal quantile (Abramowitz and Stegun 26.7.5, up to v^-3) is
  // within 2e-6.
  const double z = 1.959963984540054;
  const double v = static_cast<double>(degrees_of_freedom);
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

Estimate estimate(std::span<const double> values, Draws draws) {
  Estimate result{.mean = mean(values), .half_width = kNaN, .count = values.size()};
  if (values.size() < 2) return result;
  const double of_mean = 1 / static_cast<double>(values.size());  // variance of the mean, per variance of a value
  // Values that are equal but for the rounding of sums have no scatter.
  const auto [low, high] = std::ranges::minmax(values);
  if (std::isfinite(result.mean) && high - low <= 1e-14 * std::max(std::abs(low), std::abs(high))) {
    result.half_width = 0;
    return result;
  }
  const double error = sample_deviation(values) * std::sqrt(draws == Draws::independent ? of_mean : 1 + of_mean);
  result.half_width = student_t_975(values.size() - 1) * error;
  return result;
}

bool are_without_scatter(std::span<const double> a, std::span<const double> b) {
  const auto is_constant = [](std::span<const double> values) {
    return std::ranges::all_of(values, [&](double x) { return x == values.front(); });
  };
  return !a.empty() && !b.empty() && a.front() != b.front() && is_constant(a) && is_constant(b);
}

RatioEstimate paired_ratio(std::span<const double> numerators, std::span<const double> denominators, Draws draws) {
  CONTEND_CHECK(numerators.size() == denominators.size(), "pairs have two halves");
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < numerators.size(); ++i) {
    if (!(numerators[i] > 0) || !(denominators[i] > 0)) return {.ratio = kNaN, .low = kNaN, .high = kNaN};
    logarithms.push_back(std::log(numerators[i]) - std::log(denominators[i]));
  }
  Estimate log_ratio = estimate(logarithms, draws);
  if (are_without_scatter(numerators, denominators)) log_ratio.half_width = kNaN;
  return {.ratio = std::exp(log_ratio.mean),
          .low = std::exp(log_ratio.mean - log_ratio.half_width),
          .high = std::exp(log_ratio.mean + log_ratio.half_width)};
}

RatioEstimate ratio_of_means(std::span<const double> numerators, std::span<const double> denominators, Draws draws) {
  CONTEND_CHECK(numerators.size() == denominators.size(), "pairs have two halves");
  const double below = mean(denominators);
  if (!(below > 0)) return {.ratio = kNaN, .low = kNaN, .high = kNaN};
  const double ratio = mean(numerators) / below;
  std::vector<double> residuals;
  for (std::size_t i = 0; i < numerators.size(); ++i) residuals.push_back(numerators[i] - ratio * denominators[i]);
  const bool is_known = !are_without_scatter(numerators, denominators);
  const double half_width = is_known ? estimate(residuals, draws).half_width / below : kNaN;
  // The interval is linear, and the ratio of two positive quantities isn't negative; NaN stays.
  const double low = ratio - half_width;
  return {.ratio = ratio, .low = low < 0 && mean(numerators) >= 0 ? 0 : low, .high = ratio + half_width};
}

}  // namespace contend
