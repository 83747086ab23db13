#include "models/reliability/stragglers.hpp"

#include "sim/check.hpp"
#include "sim/portable_math.hpp"

#include <cstdint>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr double kFarthest = 12;  // standard deviations that the integral covers on either side
constexpr int kSteps = 9'600;     // even
constexpr double kStep = 2 * kFarthest / kSteps;

double density(double z) {
  constexpr double kRootTwoPi = 2.5066282746310005024;
  return portable_exp(-z * z / 2) / kRootTwoPi;
}

/// ln(n!), by Stirling's series from 20 on.
double log_factorial(int n) {
  constexpr int kFew = 20;
  double product = 1;
  if (n <= kFew) {
    for (int i = 2; i <= n; ++i) product *= i;
    return portable_log(product);
  }
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  const double x = n;
  return x * portable_log(x) - x + portable_log(x) / 2 + kHalfLogTwoPi + 1 / (12 * x) - 1 / (360 * x * x * x) +
         1 / (1260 * x * x * x * x * x);
}

double harmonic(int n) {
  double sum = 0;
  for (int i = n; i >= 1; --i) sum += 1.0 / i;
  return sum;
}

}  // namespace

double exponential_wait(int workers, int awaited) {
  CONTEND_CHECK(1 <= awaited && awaited <= workers, "a barrier waits for some of its workers");
  return harmonic(workers) - harmonic(workers - awaited);
}

double lognormal_wait(int workers, int awaited, double sigma) {
  CONTEND_CHECK(1 <= awaited && awaited <= workers && sigma >= 0, "a barrier waits for some of its workers");
  // n C(n - 1, k - 1) P^(k - 1) (1 - P)^(n - k) p is the density of the k-th of n. P is found by Simpson's rule as
  // well, from either end, so that neither P nor 1 - P loses its digits.
  const double scale = log_factorial(workers) - log_factorial(awaited - 1) - log_factorial(workers - awaited);
  std::vector<double> below(kSteps + 1);
  for (int i = 1; i <= kSteps; ++i) {
    const double from = -kFarthest + (i - 1) * kStep;
    const auto at = static_cast<std::size_t>(i);
    below[at] = below[at - 1] + kStep / 6 * (density(from) + 4 * density(from + kStep / 2) + density(from + kStep));
  }
  const auto log_power = [](double base, int power) { return power == 0 ? 0 : power * portable_log(base); };
  double sum = 0;
  for (int i = 1; i < kSteps; ++i) {
    const double z = -kFarthest + i * kStep;
    const double p = below[static_cast<std::size_t>(i)], q = below[static_cast<std::size_t>(kSteps - i)];
    const double log_weight = scale + log_power(p, awaited - 1) + log_power(q, workers - awaited);
    const double weight = portable_exp(log_weight + sigma * z - z * z / 2);
    sum += (i % 2 == 1 ? 4 : 2) * weight;
  }
  constexpr double kRootTwoPi = 2.5066282746310005024;
  return sum * kStep / 3 / kRootTwoPi;
}

std::string why_no_scheme(const CodingScheme& scheme) {
  if (scheme.workers < 1) return "needs at least one worker";
  const bool is_sequential = scheme.code == GradientCode::selective_repeat || scheme.code == GradientCode::multiplexed;
  if (scheme.code == GradientCode::gradient_coding && (scheme.stragglers < 0 || scheme.stragglers >= scheme.workers))
    return fmt::format("{} stragglers of {} workers are not within 0 to {}", scheme.stragglers, scheme.workers,
                       scheme.workers - 1);
  if (!is_sequential) return {};
  if (scheme.burst < 1 || scheme.window <= scheme.burst)
    return fmt::format("bursts of {} rounds in windows of {}: a burst has at least one, and less than the window",
                       scheme.burst, scheme.window);
  if (scheme.distinct < 0 || scheme.distinct > scheme.workers)
    return fmt::format("{} stragglers of {} workers", scheme.distinct, scheme.workers);
  if (scheme.code == GradientCode::selective_repeat && (scheme.window - 1) % scheme.burst != 0)
    return fmt::format("a burst of {} rounds does not divide the window of {} less one", scheme.burst, scheme.window);
  return {};
}

CodedParts coding_parts(const CodingScheme& scheme) {
  const std::int64_t burst = scheme.burst, between = scheme.window - 1, distinct = scheme.distinct;
  switch (scheme.code) {
    case GradientCode::none:
      break;
    case GradientCode::gradient_coding:
      return {scheme.stragglers + 1, 1};
    case GradientCode::selective_repeat:
      return {(burst * distinct + between + burst - 1) / (between + burst) + 1, 1};
    case GradientCode::multiplexed:
      if (distinct == scheme.workers) return {between + burst, between};
      return {(distinct + 1) * (between + burst), burst + between * (distinct + 1)};
  }
  return {1, 1};
}

double coding_load(const CodingScheme& scheme) {
  const CodedParts parts = coding_parts(scheme);
  return static_cast<double>(parts.computed) / (static_cast<double>(parts.of) * scheme.workers);
}

int coding_delay(const CodingScheme& scheme) {
  if (scheme.code == GradientCode::selective_repeat) return scheme.burst;
  return scheme.code == GradientCode::multiplexed ? scheme.window - 2 + scheme.burst : 0;
}

LatePattern late_pattern(const CodingScheme& scheme) {
  if (scheme.code == GradientCode::none) return {};
  if (scheme.code == GradientCode::gradient_coding) return {scheme.stragglers, 1, 1};
  return {scheme.distinct, scheme.burst, scheme.window};
}

}  // namespace contend
