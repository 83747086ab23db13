#include "models/services/start_up.hpp"

#include "sim/portable_math.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

LogNormal log_of(const StartUp& start) {
  const double mean = static_cast<double>(start.mean.ns()), cv = static_cast<double>(start.deviation.ns()) / mean;
  const double variance = portable_log(1 + cv * cv);
  return {portable_log(mean) - variance / 2, std::sqrt(variance)};
}

Time slowest_start(const StartUp& start, int workers, std::uint64_t seed, std::string_view stream) {
  if (!start.given() || start.deviation == Time{}) return start.mean;
  const LogNormal law = log_of(start);
  RandomStream draws{seed, stream};
  double slowest = 0;
  for (int w = 0; w < workers; ++w) slowest = std::max(slowest, draws.lognormal(law.mu, law.sigma));
  return Time::ceil_nanoseconds(slowest);
}

double mean_slowest_s(const StartUp& start, int workers) {
  if (!start.given() || start.deviation == Time{}) return start.mean.to_seconds();
  const LogNormal law = log_of(start);
  // The maximum has the quantile at u that the law has at u^(1/n). Over z, the normal quantile: integral of
  // e^(mu + sigma z) n phi(z) Phi(z)^(n - 1).
  constexpr double kFrom = -12, kTo = 14, kStep = 1e-3;
  double sum = 0;
  for (double z = kFrom + kStep / 2; z < kTo; z += kStep) {
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * 3.14159265358979323846);
    const double below = std::erfc(-z / std::sqrt(2.0)) / 2;
    sum += std::exp(law.mu + law.sigma * z) * workers * density * std::pow(below, workers - 1) * kStep;
  }
  return sum / 1e9;
}

double cold_share(double rate, double keep_s) {
  return std::exp(-rate * keep_s);
}

}  // namespace contend
