#pragma once
// Values of any key as numbers, with what they measure: which of them are equal, what a plot may use as an axis.

#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace contend {

/// A number or a quantity. A whole number is an integer, wherever it comes from: see magnitude_of().
using Magnitude = std::variant<std::int64_t, double, Time, Bytes, ByteRate, TimePerByte>;

/// An integer if the number is whole and small enough to be printed without an exponent, so that a column of 1, 2 and 4
/// is a column of integers even if its key also takes 1.5.
[[nodiscard]] Magnitude magnitude_of(double number);

/// The number or quantity that people wrote as `text`; nothing if it is neither.
[[nodiscard]] std::optional<Magnitude> parse_magnitude(std::string_view text);

/// The plain number, or the seconds, bytes, bytes a second or seconds a byte of a quantity.
[[nodiscard]] double base_number(const Magnitude& magnitude);
/// The unit of base_number() as names of columns have it: `s`, `B`, `Bps` or `s_per_B`; empty for plain numbers.
[[nodiscard]] std::string_view base_unit(const Magnitude& magnitude);

[[nodiscard]] inline bool is_integer(const Magnitude& magnitude) {
  return std::holds_alternative<std::int64_t>(magnitude);
}
[[nodiscard]] inline bool is_quantity(const Magnitude& magnitude) {
  return !base_unit(magnitude).empty();
}
/// Whether both are the same number of the same unit: 4 and 4.0, `10Gbps` and `10000Mbps`.
[[nodiscard]] inline bool is_same(const Magnitude& a, const Magnitude& b) {
  return base_unit(a) == base_unit(b) && base_number(a) == base_number(b);
}

}  // namespace contend
