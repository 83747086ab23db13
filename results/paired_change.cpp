#include "results/paired_change.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <boost/math/distributions/students_t.hpp>

namespace contend {
namespace {

using Student = boost::math::students_t;

double relative_change(double base, double other) {
  if (base == 0 && other == 0) return 0;
  return other / base - 1;
}

bool all_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
}

/// The standard error behind the half-width of a t interval.
double error_of(double half_width, std::size_t pairs) {
  return half_width / student_t_975(pairs - 1);
}

ChangeEstimate estimated(double value, ConfidenceInterval interval, double error, std::size_t pairs) {
  return {.value = value, .interval_95 = interval, .error = error, .degrees_of_freedom = pairs - 1};
}

}  // namespace

double ChangeEstimate::detectable() const {
  constexpr double kPower = 0.8;
  if (std::isnan(error)) return kNaN;
  const double powerful = boost::math::quantile(Student{static_cast<double>(degrees_of_freedom)}, kPower);
  const double least = (student_t_975(degrees_of_freedom) + powerful) * error;
  return logarithmic ? std::expm1(least) : least;
}

double ChangeEstimate::detectable_beside_none() const {
  const bool may_be_none = error > 0 && interval_95.low <= 0 && interval_95.high >= 0;
  return may_be_none ? detectable() : kNaN;
}

double ChangeEstimate::chance_beyond(double amount, bool above) const {
  if (std::isnan(error)) return kNaN;
  if (logarithmic && amount <= -1) return above ? 0 : 1;  // a positive figure can't fall to 0 or below
  const double beyond = logarithmic ? std::log1p(value) - std::log1p(amount) : value - amount;
  if (error == 0) return (above ? beyond : -beyond) > 0 ? 0 : 1;
  const double errors = beyond / (error * (beyond > 0 ? downwards : upwards));
  const Student student{static_cast<double>(degrees_of_freedom)};
  return boost::math::cdf(boost::math::complement(student, above ? errors : -errors));
}

PairedChange plain_change(double base, double other) {
  PairedChange change{.base = base, .other = other, .difference = {}, .relative = {}, .of_means = {}};
  change.difference.value = other - base;
  change.of_means.value = relative_change(base, other);
  change.relative.value = change.of_means.value;
  return change;
}

PairedChange paired_change(std::span<const double> base, std::span<const double> other, Draws draws) {
  CONTEND_CHECK(base.size() == other.size(), "pairs have two halves");
  const std::size_t pairs = base.size();
  PairedChange change = plain_change(mean(base), mean(other));
  if (pairs < 2 || !all_finite(base) || !all_finite(other)) return change;
  if (are_without_scatter(base, other)) return change;
  std::vector<double> differences;
  for (std::size_t i = 0; i < pairs; ++i) differences.push_back(other[i] - base[i]);
  const Estimate difference = estimate(differences, draws);
  change.difference =
      estimated(difference.mean, {difference.mean - difference.half_width, difference.mean + difference.half_width},
                error_of(difference.half_width, pairs), pairs);
  if (const RatioEstimate ratio = ratio_of_means(other, base, draws); !std::isnan(ratio.ratio))
    change.of_means = estimated(change.of_means.value, {ratio.low - 1, ratio.high - 1},
                                error_of(ratio.high - ratio.ratio, pairs), pairs);
  change.relative = change.of_means;
  if (const RatioEstimate ratio = paired_ratio(other, base, draws); !std::isnan(ratio.ratio)) {
    change.relative = estimated(ratio.ratio - 1, {ratio.low - 1, ratio.high - 1},
                                error_of(std::log(ratio.high) - std::log(ratio.ratio), pairs), pairs);
    change.relative.logarithmic = true;
  }
  return change;
}

namespace {

/// How far the end on the side of a long tail lies, in units of Student's t, at a skewness > 0 of the resamples; at one
/// < 0 it is the end on the other side.
double reach_of(double skewness) {
  constexpr double kMostAcceleration = 0.1, kNormal975 = 1.959963984540054;
  const double rest = 1 - kNormal975 * std::clamp(skewness / 6, -kMostAcceleration, kMostAcceleration);
  return 1 / (rest * rest);
}

/// The change `own` with an interval from the same change in resamples, all on one scale.
ChangeEstimate around(double own, std::span<const double> drawn, const BlockScatter& blocks) {
  constexpr double kWidest = 2;  // times Student's t without correlation and skewness
  const double count = static_cast<double>(drawn.size()), skewness = sample_skewness(drawn);
  const double scatter = sample_deviation(drawn) * std::sqrt(1 + 1 / count), distance = own - mean(drawn);
  ChangeEstimate change;
  change.value = own;
  change.degrees_of_freedom = std::min(drawn.size(), blocks.blocks) - 1;
  change.upwards = reach_of(skewness);
  change.downwards = reach_of(-skewness);
  const double mean_reach = (change.upwards + change.downwards) / 2;
  change.error = std::min(std::hypot(scatter * blocks.correlation, distance),
                          kWidest / mean_reach * std::hypot(scatter, distance));
  const double half_width = student_t_975(change.degrees_of_freedom) * change.error;
  change.interval_95 = {own - half_width * change.downwards, own + half_width * change.upwards};
  return change;
}

}  // namespace

PairedChange resampled_change(double base, double other, std::span<const double> base_drawn,
                              std::span<const double> other_drawn, const BlockScatter& blocks) {
  CONTEND_CHECK(base_drawn.size() == other_drawn.size(), "pairs have two halves");
  CONTEND_CHECK(blocks.blocks >= 2 && blocks.correlation >= 1, "a list is resampled in two blocks or more");
  PairedChange change = plain_change(base, other);
  const std::size_t pairs = base_drawn.size();
  if (std::isnan(change.difference.value) || pairs < 2 || !all_finite(base_drawn) || !all_finite(other_drawn))
    return change;
  const double mean_before = mean(base_drawn), ratio = mean(other_drawn) / mean_before;
  std::vector<double> differences, logarithms, linear;  // the ratio of the means, by the delta method
  bool positive = base > 0 && other > 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const double before = base_drawn[i], after = other_drawn[i];
    differences.push_back(after - before);
    positive = positive && before > 0 && after > 0;
    if (positive) logarithms.push_back(std::log(after) - std::log(before));
    linear.push_back(ratio - 1 + (after - ratio * before) / mean_before);
  }
  change.difference = around(change.difference.value, differences, blocks);
  if (positive) {
    change.relative = around(std::log(other) - std::log(base), logarithms, blocks);
    change.relative.logarithmic = true;
    change.relative.value = other / base - 1;
    for (double* each : {&change.relative.interval_95.low, &change.relative.interval_95.high})
      *each = std::expm1(*each);
  } else if (mean_before > 0 && std::isfinite(change.relative.value)) {
    change.relative = around(change.relative.value, linear, blocks);
    const bool stays_positive = other >= 0 && std::ranges::all_of(other_drawn, [](double x) { return x >= 0; });
    if (double& low = change.relative.interval_95.low; stays_positive) low = std::max(-1.0, low);
  }
  return change;
}

std::string few_pairs_note(std::size_t pairs, std::string_view what) {
  if (pairs < 2 || pairs >= kUsualPairs) return {};
  return fmt::format("{} {} are few: take {} or more for narrower and safer intervals", pairs, what, kUsualPairs);
}

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p_values.size(); ++i)
    if (!std::isnan(p_values[i])) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted{p_values.begin(), p_values.end()};
  double largest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(order.size() - k) * p_values[order[k]]));
    adjusted[order[k]] = largest;
  }
  return adjusted;
}

}  // namespace contend
