#include "text/magnitude.hpp"

#include "text/decimal.hpp"
#include "text/quantities.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

namespace contend {
namespace {

// From here on a number is printed with an exponent, and most whole numbers have no double of their own.
constexpr double kLargestWhole = 1e16;
constexpr double kNanosecond = 1e-9;

struct BaseNumber {
  double operator()(std::int64_t number) const { return static_cast<double>(number); }
  double operator()(double number) const { return number; }
  double operator()(Time time) const { return time.to_seconds(); }
  double operator()(Bytes bytes) const { return bytes.to_double(); }
  double operator()(ByteRate rate) const { return rate.bytes_per_second(); }
  double operator()(TimePerByte slope) const { return slope.ns_per_byte() * kNanosecond; }
};

struct BaseUnit {
  std::string_view operator()(std::int64_t) const { return {}; }
  std::string_view operator()(double) const { return {}; }
  std::string_view operator()(Time) const { return "s"; }
  std::string_view operator()(Bytes) const { return "B"; }
  std::string_view operator()(ByteRate) const { return "Bps"; }
  std::string_view operator()(TimePerByte) const { return "s_per_B"; }
};

template <class T>
bool read_quantity(std::string_view text, std::optional<Magnitude>& magnitude) {
  const Parsed<T> parsed = parse_quantity<T>(text);
  if (parsed.value) magnitude = *parsed.value;
  return parsed.value.has_value();
}

}  // namespace

Magnitude magnitude_of(double number) {
  const bool whole = std::floor(number) == number && std::abs(number) < kLargestWhole;
  return whole ? Magnitude{static_cast<std::int64_t>(number)} : Magnitude{number};
}

std::optional<Magnitude> parse_magnitude(std::string_view text) {
  if (const ScaledDecimal whole = parse_integer(text); whole.error == DecimalError::none) return whole.value;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && stop == end && std::isfinite(number)) return number;
  std::optional<Magnitude> quantity;
  static_cast<void>(read_quantity<Time>(text, quantity) || read_quantity<Bytes>(text, quantity) ||
                    read_quantity<ByteRate>(text, quantity) || read_quantity<TimePerByte>(text, quantity));
  return quantity;
}

double base_number(const Magnitude& magnitude) {
  return std::visit(BaseNumber{}, magnitude);
}

std::string_view base_unit(const Magnitude& magnitude) {
  return std::visit(BaseUnit{}, magnitude);
}

}  // namespace contend
