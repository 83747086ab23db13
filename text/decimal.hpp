#pragma once
// Decimal text to whole numbers and back without a detour over binary fractions: 0.1 s is 100 000 000 ns exactly.
// Independent of the locale.

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

struct ScaledDecimal {
  std::int64_t value = 0;
  DecimalError error = DecimalError::none;
};

/// Reads `12`, `-0.25` or `1.5e3` times 10^decimals, rounded to the nearest whole number (halves away from zero).
/// nan, inf, hexadecimal, blanks and a leading + are not numbers here.
[[nodiscard]] ScaledDecimal parse_scaled(std::string_view text, int decimals);

/// A whole number without fraction or exponent.
[[nodiscard]] ScaledDecimal parse_integer(std::string_view text);

/// Seconds, exact to the nanosecond, without trailing zeros: `12.345678901`, `7`, `-0.5`.
[[nodiscard]] std::string format_seconds(Time time);

}  // namespace contend
