#include "sim/portable_math.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace contend {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ln 2 in two parts: the upper one has 32 significant bits, so its product with an exponent (11 bits) is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

/// atanh(s) / s for |s| <= 0.172 by its Taylor series 1 + s^2/3 + s^4/5 + ...; the first dropped term is below 2^-60.
double atanh_ratio(double s) {
  const double square = s * s;
  double sum = 1.0 / 23.0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return sum;
}

/// (e^r - 1) / r for |r| <= 0.35 by its Taylor series 1 + r/2! + r^2/3! + ...; the first dropped term is below 2^-58.
double expm1_ratio_near_zero(double r) {
  double sum = 1.0;
  for (int k = 14; k >= 2; --k) sum = 1.0 + sum * r / k;
  return sum;
}

}  // namespace

// x = 2^e m with m near 1, and log m = 2 atanh((m - 1) / (m + 1)).
double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < std::numbers::sqrt2 / 2) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);
  return exponent * kLn2High + (2 * s * atanh_ratio(s) + exponent * kLn2Low);
}

// x = k ln 2 + r with |r| <= ln(2) / 2.
double portable_exp(double x) {
  if (x > 710) return kInfinity;
  if (x < -746) return 0;
  const double k = std::floor(x / std::numbers::ln2 + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  return std::ldexp(1 + r * expm1_ratio_near_zero(r), static_cast<int>(k));
}

double log1p_ratio(double t) {
  if (std::abs(t) > 0.3) return portable_log(1 + t) / t;
  const double s = t / (2 + t);
  return 2 / (2 + t) * atanh_ratio(s);
}

double expm1_ratio(double t) {
  return std::abs(t) > 0.35 ? (portable_exp(t) - 1) / t : expm1_ratio_near_zero(t);
}

double portable_expm1(double x) {
  return x * expm1_ratio(x);
}

// x is moved to -1/4 ... 1/4 by whole and half turns, and then halved for the series of 2 sin^2: cos 2y = 1 - 2 sin^2
// y.
double portable_cos_of_turns(double x) {
  double rest = x - std::floor(x + 0.5);  // exact
  double sign = 1;
  if (rest > 0.25 || rest < -0.25) {
    rest -= rest > 0 ? 0.5 : -0.5;
    sign = -1;
  }
  const double y = std::numbers::pi * rest, square = y * y;
  double sum = 1;  // sin y / y by its Taylor series; |y| <= 0.79, and the first dropped term is below 2^-60
  for (int k = 18; k >= 2; k -= 2) sum = 1 - sum * square / (k * (k + 1));
  const double sine = y * sum;
  return sign * (1 - 2 * sine * sine);
}

}  // namespace contend
