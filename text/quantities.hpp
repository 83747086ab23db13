#pragma once
// Parses and prints physical quantities as people write them: `50us`, `25MiB`, `10Gbps`, `0.856ms/MiB`. A quantity is a
// number (digits, optionally a point and more digits; no sign, no exponent) and a unit, with or without spaces between.
// Units are case-sensitive, because Gb and GB differ by a factor of 8; a number without a unit is an error. Bits a
// second may also be written as Gbit/s or Gb/s.
//
// Times and bytes are converted by exact decimal arithmetic; fractions of a nanosecond or byte round up. Rates and
// times per byte become the double nearest to the written value if the digits fit into 53 bits. print_quantity()
// returns a text that parses to the same value. For times and bytes it is a whole number below 1000 of the largest unit
// that allows one; otherwise it is the shortest text in any unit.

#include "sim/units.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace contend {

/// A parsed value, or what was expected instead.
template <class T>
struct Parsed {
  std::optional<T> value;
  std::string expected;  ///< such as `a time such as 50us`; empty if there is a value
  std::string hint;      ///< the unit that was probably meant, or the valid units; may be empty
};

/// The words for a kind of quantity in messages and schemas.
struct QuantityInfo {
  std::string_view word;  ///< `time`
  std::string_view noun;  ///< `a time`
  std::string_view example;
  std::string_view units;  ///< list for messages
  std::string pattern;     ///< regular expression (ECMA 262) of the accepted texts
};

/// The words for quantities of type T: Time, Bytes, ByteRate or TimePerByte, here and below.
template <class T>
[[nodiscard]] const QuantityInfo& quantity_info();
/// Parses a text such as `50us`.
template <class T>
[[nodiscard]] Parsed<T> parse_quantity(std::string_view text);
/// Prints a finite `value` >= 0 as a text that parses to the same value.
template <class T>
[[nodiscard]] std::string print_quantity(T value);
/// The same for the rate of a link, in bits a second if these are a whole number below 1000 of some unit, as people
/// write them: 200Gbps rather than 25GB/s.
[[nodiscard]] std::string print_link_rate(ByteRate rate);

}  // namespace contend
