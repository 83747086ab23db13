#pragma once
// Real numbers in tests, compared relative to what is expected:
//
//     CHECK(time == near(28e-6));              but for rounding
//     CHECK(mean == near(50, 0.01));           within 1% of 50
//     CHECK(dot == near_absolute(0, 1e-6));    within 1e-6 of 0, where there is nothing to be relative to
//
// doctest's own Approx adds 1 to the size of the numbers, which is an absolute tolerance for small ones: by it 28 us
// are 23 us. scripts/lint.sh forbids it.

#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>

namespace contend {

/// A few thousand roundings of double precision, and still one nanosecond in a quarter of an hour, or one byte in a
/// terabyte.
inline constexpr double kRounding = 1e-12;

/// A number that others equal if they are within a tolerance of it. Infinities equal themselves only, and NaN nothing.
class Near {
 public:
  static Near relative(double expected, double tolerance) {
    if (!(tolerance >= 0 && tolerance < 1)) throw std::invalid_argument{"a relative tolerance of 1 lets 0 through"};
    return Near{expected, tolerance, true};
  }
  static Near absolute(double expected, double tolerance) {
    if (!(tolerance >= 0 && std::isfinite(tolerance))) throw std::invalid_argument{"a tolerance that all numbers meet"};
    return Near{expected, tolerance, false};
  }

  template <class Number>
  requires std::is_arithmetic_v<Number>
  friend bool operator==(Number value, const Near& near) { return near.meets(static_cast<double>(value)); }

  /// What is expected and allowed, and how far the number is off with which it was compared last.
  [[nodiscard]] std::string text() const {
    const double off = std::abs(found_ - expected_);
    std::string text = "near " + written(expected_) + " (" + written(found_) + " is off by " + rounded(off);
    if (is_relative_) text += ", " + rounded(off / std::abs(expected_)) + " of it";
    return text + "; allowed: " + rounded(tolerance_) + (is_relative_ ? " of it)" : ")");
  }

 private:
  Near(double expected, double tolerance, bool is_relative)
      : expected_{expected}, tolerance_{tolerance}, is_relative_{is_relative} {}

  [[nodiscard]] bool meets(double value) const {
    found_ = value;
    if (std::isinf(value) || std::isinf(expected_)) return value == expected_;
    return std::abs(value - expected_) <= (is_relative_ ? tolerance_ * std::abs(expected_) : tolerance_);
  }
  /// The digits that tell it from all other numbers.
  static std::string written(double value) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
  }
  static std::string rounded(double value) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 3).ptr};
  }

  double expected_, tolerance_;
  bool is_relative_;
  mutable double found_ = std::numeric_limits<double>::quiet_NaN();
};

/// Within a share of what is expected. Only 0 is near 0.
[[nodiscard]] inline Near near(double expected, double tolerance = kRounding) {
  return Near::relative(expected, tolerance);
}

/// Within so much of what is expected, for numbers that come from others which cancel.
[[nodiscard]] inline Near near_absolute(double expected, double tolerance) {
  return Near::absolute(expected, tolerance);
}

}  // namespace contend

template <>
struct doctest::StringMaker<contend::Near> {
  static String convert(const contend::Near& near) { return near.text().c_str(); }
};
