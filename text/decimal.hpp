#pragma once
// Converts decimal text to integers and back without binary fractions: 0.1 s is exactly 100 000 000 ns. The conversions
// do not depend on the locale.

#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace contend {

[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

enum class DecimalError : std::uint8_t { none, not_a_number, overflow };

/// A converted number, or the reason why there is none (`value` is 0 then).
struct ScaledDecimal {
  std::int64_t value = 0;
  DecimalError error = DecimalError::none;
  bool vanishes = false;  ///< the number isn't 0, and `value` is, because it is rounded
};

/// Reads `12`, `-0.25` or `1.5e3` times 10^decimals, rounded to the nearest whole number (halves away from zero).
/// It rejects nan, inf, hexadecimal digits, blanks and a leading +.
[[nodiscard]] ScaledDecimal parse_scaled(std::string_view text, int decimals);

/// Reads an integer without fraction or exponent.
[[nodiscard]] ScaledDecimal parse_integer(std::string_view text);

/// Prints seconds exactly, without trailing zeros: `12.345678901`, `7`, `-0.5`.
[[nodiscard]] std::string format_seconds(Time time);
[[nodiscard]] std::string format_seconds(GpuTime time);

}  // namespace contend
