#include "sim/failure_spec.hpp"

#include "sim/check.hpp"
#include "sim/portable_math.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace contend {
namespace {

/// The gamma function for x >= 1, within 1e-14: Lanczos' approximation with g = 7 and nine coefficients (Godfrey).
double gamma_above_one(double x) {
  constexpr double kCoefficients[] = {0.99999999999980993,  676.5203681218851,     -1259.1392167224028,
                                      771.32342877765313,   -176.61502916214059,   12.507343278686905,
                                      -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
  constexpr double kG = 7;
  const double z = x - 1;
  double sum = kCoefficients[0];
  for (int i = 1; i < 9; ++i) sum += kCoefficients[i] / (z + i);
  const double t = z + kG + 0.5;
  return std::sqrt(2 * std::numbers::pi) * portable_exp((z + 0.5) * portable_log(t) - t) * sum;
}

}  // namespace

Time stretched(Time rest, std::int32_t now, std::int32_t before) {
  const Int128 ns = (Int128{rest.ns()} * now + before - 1) / before;
  if (Int128{static_cast<std::int64_t>(ns)} != ns) throw_time_overflow();
  return Time::nanoseconds(static_cast<std::int64_t>(ns));
}

Time Detectors::delay(FoundBy by, Time ran, Time iteration) const {
  switch (by) {
    case FoundBy::exit_code:
      return exit_code;
    case FoundBy::heartbeat:
      return heartbeat * missed - Time::nanoseconds(ran.ns() % heartbeat.ns());
    case FoundBy::timeout: {
      if (timeout_iterations <= 0 || iteration == Time{}) return timeout;
      const double ns = timeout_iterations * static_cast<double>(iteration.ns());
      return ns < static_cast<double>(timeout.ns()) ? Time::ceil_nanoseconds(ns) : timeout;
    }
    case FoundBy::delay:
    case FoundBy::slowdown:
    case FoundBy::stall:
      break;
  }
  return Time{};
}

bool FailureSpec::slows() const {
  return jitter > 0 || has_slow_components();
}

bool FailureSpec::has_slow_components() const {
  const auto has_pace = [](const auto& each) { return each.slows.has_value(); };
  return std::any_of(components.begin(), components.end(), has_pace) ||
         std::any_of(outages.begin(), outages.end(), has_pace);
}

DurationLaw::DurationLaw(Kind kind, Time mean, double shape) : kind_{kind}, mean_{mean}, shape_{shape} {
  CONTEND_CHECK(mean > Time{} && mean <= kLongest, "a law of durations has a positive mean");
  location_ = static_cast<double>(mean.ns());
}

DurationLaw DurationLaw::constant(Time value) {
  return DurationLaw{Kind::constant, value, 0};
}

DurationLaw DurationLaw::exponential(Time mean) {
  return DurationLaw{Kind::exponential, mean, 0};
}

DurationLaw DurationLaw::weibull(Time mean, double shape) {
  CONTEND_CHECK(shape > 0, "a Weibull law has a positive shape");
  DurationLaw law{Kind::weibull, mean, shape};
  law.location_ /= gamma_above_one(1 + 1 / shape);
  return law;
}

DurationLaw DurationLaw::lognormal(Time mean, double sigma) {
  CONTEND_CHECK(sigma >= 0, "a log-normal law has a sigma that is not negative");
  DurationLaw law{Kind::lognormal, mean, sigma};
  law.location_ = portable_log(law.location_) - sigma * sigma / 2;
  return law;
}

Time DurationLaw::draw(RandomStream& stream) const {
  double ns = location_;
  if (kind_ == Kind::exponential) ns = stream.exponential(location_);
  if (kind_ == Kind::weibull) ns = stream.weibull(shape_, location_);
  if (kind_ == Kind::lognormal) ns = stream.lognormal(location_, shape_);
  if (!(ns <= static_cast<double>(kLongest.ns()))) return Time::never();
  return std::max(Time::ceil_nanoseconds(ns), Time::nanoseconds(1));
}

}  // namespace contend
