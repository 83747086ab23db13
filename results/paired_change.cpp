#include "results/paired_change.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

double ChangeEstimate::chance_beyond(double amount, bool upwards) const {
  if (std::isnan(error)) return kNaN;
  if (logarithmic && amount <= -1) return upwards ? 0 : 1;  // a positive figure can't fall to 0 or below
  const double beyond = logarithmic ? std::log1p(value) - std::log1p(amount) : value - amount;
  const double wanted = upwards ? beyond : -beyond;
  if (error == 0) return wanted > 0 ? 0 : 1;
  const Student student{static_cast<double>(degrees_of_freedom)};
  return boost::math::cdf(boost::math::complement(student, wanted / error));
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

/// `own` with the error that resamples show, both on the scale of `drawn`, and its interval there.
ChangeEstimate around(double own, const ChangeEstimate& drawn, double drawn_value) {
  const double error = std::hypot(drawn.error, own - drawn_value);
  const double half_width = student_t_975(drawn.degrees_of_freedom) * error;
  ChangeEstimate change = drawn;
  change.value = own;
  change.error = error;
  change.interval_95 = {own - half_width, own + half_width};
  return change;
}

}  // namespace

PairedChange resampled_change(double base, double other, std::span<const double> base_drawn,
                              std::span<const double> other_drawn) {
  PairedChange change = plain_change(base, other);
  const PairedChange drawn = paired_change(base_drawn, other_drawn, Draws::resamples);
  if (std::isnan(change.difference.value) || std::isnan(drawn.difference.error)) return change;
  change.difference = around(change.difference.value, drawn.difference, drawn.difference.value);
  if (drawn.relative.logarithmic && base > 0 && other > 0) {
    change.relative = around(std::log(other) - std::log(base), drawn.relative, std::log1p(drawn.relative.value));
    change.relative.value = other / base - 1;
    for (double* each : {&change.relative.interval_95.low, &change.relative.interval_95.high})
      *each = std::expm1(*each);
  } else if (!std::isnan(drawn.of_means.error) && std::isfinite(change.relative.value)) {
    change.relative = around(change.relative.value, drawn.of_means, drawn.of_means.value);
  }
  return change;
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
