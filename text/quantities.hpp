#pragma once
// Physical quantities as people write them: `50us`, `25MiB`, `10Gbps`, `0.856ms/MiB`. A number (digits, perhaps a point
// and more digits; no sign, no exponent) and a unit, with or without spaces between. Units are case-sensitive, because
// Gb and GB differ by a factor of 8; a number without a unit is an error.
//
// Times and bytes are converted by exact decimal arithmetic; what is left below a nanosecond or a byte rounds up. Rates
// and times per byte are the double nearest to the written value as long as the digits fit into 53 bits.
// print_quantity() gives a text that parses to the same value: a whole number below 1000 of the largest unit that
// allows it, for times and bytes; else the shortest text, in whichever unit that is.

#include "sim/units.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace contend {

/// A value, or what would have been right.
template <class T>
struct Parsed {
  std::optional<T> value;
  std::string expected;  ///< such as `a time such as 50us`; empty if there is a value
  std::string hint;      ///< the unit that was meant, or the units there are; may be empty
};

struct QuantityInfo {
  std::string_view word;  ///< `time`
  std::string_view noun;  ///< `a time`
  std::string_view example;
  std::string_view units;  ///< list for messages
  std::string pattern;     ///< regular expression (ECMA 262) of the accepted texts
};

/// These three exist for Time, Bytes, ByteRate and TimePerByte.
template <class T>
[[nodiscard]] const QuantityInfo& quantity_info();
template <class T>
[[nodiscard]] Parsed<T> parse_quantity(std::string_view text);
/// `value` must not be negative and must be finite.
template <class T>
[[nodiscard]] std::string print_quantity(T value);

}  // namespace contend
