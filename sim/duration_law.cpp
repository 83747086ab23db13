#include "sim/duration_law.hpp"

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

double same(double mean_ns, double) {
  return mean_ns;
}

// The location of Weibull's law is its scale, the location of the log-normal law the mean of the logarithm.
constexpr LawKind kLaws[] = {
    {"exponential", LawParameter::none, same,
     [](RandomStream& stream, double mean, double) { return stream.exponential(mean); }},
    {"weibull", LawParameter::shape, [](double mean, double shape) { return mean / gamma_above_one(1 + 1 / shape); },
     [](RandomStream& stream, double scale, double shape) { return stream.weibull(shape, scale); }},
    {"lognormal", LawParameter::sigma, [](double mean, double sigma) { return portable_log(mean) - sigma * sigma / 2; },
     [](RandomStream& stream, double location, double sigma) { return stream.lognormal(location, sigma); }},
    {"constant", LawParameter::none, same, [](RandomStream&, double mean, double) { return mean; }},
};

DurationLaw made(std::string_view name, Time mean, double parameter = 0) {
  return {*std::ranges::find(kLaws, name, &LawKind::name), mean, parameter};
}

}  // namespace

std::span<const LawKind> duration_laws() {
  return kLaws;
}

DurationLaw::DurationLaw(const LawKind& kind, Time mean, double parameter)
    : kind_{&kind}, mean_{mean}, parameter_{parameter} {
  CONTEND_CHECK(mean > Time{} && mean <= kLongest, "a law of durations has a positive mean");
  CONTEND_CHECK(kind.parameter != LawParameter::shape || parameter > 0, "the shape of a law is positive");
  CONTEND_CHECK(kind.parameter != LawParameter::sigma || parameter >= 0, "the sigma of a law is not negative");
  location_ = kind.location(static_cast<double>(mean.ns()), parameter);
}

DurationLaw DurationLaw::constant(Time value) {
  return made("constant", value);
}

DurationLaw DurationLaw::exponential(Time mean) {
  return made("exponential", mean);
}

DurationLaw DurationLaw::weibull(Time mean, double shape) {
  return made("weibull", mean, shape);
}

DurationLaw DurationLaw::lognormal(Time mean, double sigma) {
  return made("lognormal", mean, sigma);
}

Time DurationLaw::draw(RandomStream& stream) const {
  const double ns = kind_->draw(stream, location_, parameter_);
  if (!(ns <= static_cast<double>(kLongest.ns()))) return Time::never();
  return std::max(Time::ceil_nanoseconds(ns), Time::nanoseconds(1));
}

}  // namespace contend
