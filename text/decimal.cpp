#include "text/decimal.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/core.h>

namespace contend {
namespace {

/// The digits before and after the point as one string, and the number of those before it.
struct Digits {
  std::string digits;
  std::int64_t point = 0;
  bool negative = false;
};

std::optional<Digits> split(std::string_view text) {
  Digits result;
  std::size_t at = 0;
  if (at < text.size() && text[at] == '-') {
    result.negative = true;
    ++at;
  }
  while (at < text.size() && is_digit(text[at])) result.digits += text[at++];
  result.point = static_cast<std::int64_t>(result.digits.size());
  if (at < text.size() && text[at] == '.') {
    ++at;
    while (at < text.size() && is_digit(text[at])) result.digits += text[at++];
  }
  if (result.digits.empty()) return std::nullopt;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && text[at] == '+' && at + 1 < text.size() && is_digit(text[at + 1])) ++at;
    int exponent = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), exponent);
    if (error != std::errc{}) return std::nullopt;
    at = static_cast<std::size_t>(end - text.data());
    result.point += exponent;
  }
  if (at != text.size()) return std::nullopt;
  return result;
}

/// Handles the usual case without allocation: at most 18 digits including those after the point, no exponent, no
/// rounding.
std::optional<std::int64_t> plain(std::string_view text, int decimals) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::int64_t value = 0;
  int digits = 0;
  int behind = -1;  // digits after the point; -1: no point yet
  for (const char c : text) {
    if (is_digit(c)) {
      if (++digits > 18) return std::nullopt;  // before the multiplication, because a 19th digit may not fit
      value = value * 10 + (c - '0');
      if (behind >= 0) ++behind;
    } else if (c == '.' && behind < 0) {
      behind = 0;
    } else {
      return std::nullopt;
    }
  }
  const int zeros = decimals - std::max(behind, 0);
  if (digits == 0 || zeros < 0 || digits + zeros > 18) return std::nullopt;
  for (int i = 0; i < zeros; ++i) value *= 10;
  return negative ? -value : value;
}

}  // namespace

ScaledDecimal parse_scaled(std::string_view text, int decimals) {
  if (const std::optional<std::int64_t> value = plain(text, decimals))
    return {.value = *value, .error = DecimalError::none};
  const std::optional<Digits> number = split(text);
  if (!number) return {.value = 0, .error = DecimalError::not_a_number};
  const std::int64_t point = number->point + decimals;
  const auto digit = [&](std::int64_t i) -> std::int64_t {
    return i >= 0 && i < static_cast<std::int64_t>(number->digits.size())
               ? number->digits[static_cast<std::size_t>(i)] - '0'
               : 0;
  };
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::int64_t value = 0;
  bool overflow = false;
  const auto append = [&](std::int64_t next) {
    if (value > (kMax - next) / 10) overflow = true;
    if (!overflow) value = value * 10 + next;
  };
  const auto last = static_cast<std::int64_t>(number->digits.size());
  for (std::int64_t i = 0; i < point && !overflow && (i < last || value > 0); ++i) append(digit(i));
  if (digit(point) >= 5 && !overflow) {
    overflow = value == kMax;
    if (!overflow) ++value;
  }
  if (overflow) return {.value = 0, .error = DecimalError::overflow};
  const bool vanishes = value == 0 && number->digits.find_first_not_of('0') != std::string::npos;
  return {.value = number->negative ? -value : value, .error = DecimalError::none, .vanishes = vanishes};
}

ScaledDecimal parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return {.value = 0, .error = DecimalError::overflow};
  if (error != std::errc{} || end != text.data() + text.size())
    return {.value = 0, .error = DecimalError::not_a_number};
  return {.value = value, .error = DecimalError::none};
}

std::string format_seconds(GpuTime time) {
  const Int128 ns = time.ns();
  const Int128 magnitude = ns < 0 ? -ns : ns;
  std::string text = fmt::format("{}{}", ns < 0 ? "-" : "", magnitude / 1'000'000'000);
  if (const Int128 fraction = magnitude % 1'000'000'000; fraction != 0) {
    text += fmt::format(".{:09}", static_cast<std::int64_t>(fraction));
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

std::string format_seconds(Time time) {
  return format_seconds(GpuTime{time, 1});
}

}  // namespace contend
