#include "scenarios/sweep/magnitude.hpp"

#include "scenarios/sweep/sweep_points.hpp"
#include "sim/error.hpp"
#include "text/decimal.hpp"
#include "text/quantities.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr int kDigits = 6;         // of a value on a logarithmic scale or drawn
constexpr int kLinearDigits = 12;  // of one on a linear scale: 0.3, not 0.30000000000000004
constexpr double kNanosecond = 1e-9;

double base_value(Time time) {
  return time.to_seconds();
}
double base_value(Bytes bytes) {
  return bytes.to_double();
}
double base_value(ByteRate rate) {
  return rate.bytes_per_second();
}
double base_value(TimePerByte slope) {
  return slope.ns_per_byte() * kNanosecond;
}

template <class T>
bool read_quantity(std::string_view text, Magnitude::Kind kind, Magnitude& magnitude) {
  const Parsed<T> parsed = parse_quantity<T>(text);
  if (!parsed.value) return false;
  magnitude.kind = kind;
  magnitude.value = base_value(*parsed.value);
  magnitude.unit = text.substr(std::min(text.find_first_not_of("0123456789. "), text.size()));
  return true;
}

/// So many significant digits, without an exponent and without zeros at the end.
std::string plain_decimal(double value, int digits) {
  if (value == 0) return "0";
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  std::string text = fmt::format("{:.{}f}", value, std::max(0, digits - magnitude));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

Magnitude end_of(const std::string& key, const SweepValue& value) {
  std::optional<Magnitude> magnitude = magnitude_of(value.text);
  if (!magnitude)
    throw InputError{
        {sweep_complaint(value.place, key, "an end of a range is a number or a quantity, got " + value.text)}};
  return *std::move(magnitude);
}

bool is_whole(const Magnitude& magnitude) {
  return magnitude.kind == Magnitude::Kind::integer;
}

}  // namespace

std::optional<Magnitude> magnitude_of(std::string_view text) {
  Magnitude magnitude;
  if (const ScaledDecimal whole = parse_integer(text); whole.error == DecimalError::none) {
    magnitude.kind = Magnitude::Kind::integer;
    magnitude.value = static_cast<double>(whole.value);
    return magnitude;
  }
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, magnitude.value);
  if (error == std::errc{} && stop == end && std::isfinite(magnitude.value)) return magnitude;
  if (read_quantity<Time>(text, Magnitude::Kind::time, magnitude) ||
      read_quantity<Bytes>(text, Magnitude::Kind::bytes, magnitude) ||
      read_quantity<ByteRate>(text, Magnitude::Kind::rate, magnitude) ||
      read_quantity<TimePerByte>(text, Magnitude::Kind::time_per_byte, magnitude))
    return magnitude;
  return std::nullopt;
}

std::string_view column_unit(Magnitude::Kind kind) {
  switch (kind) {
    case Magnitude::Kind::time:
      return "s";
    case Magnitude::Kind::bytes:
      return "B";
    case Magnitude::Kind::rate:
      return "Bps";
    case Magnitude::Kind::time_per_byte:
      return "s_per_B";
    default:
      return {};
  }
}

bool same_value(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const std::optional<Magnitude> x = magnitude_of(a), y = magnitude_of(b);
  return x && y && column_unit(x->kind) == column_unit(y->kind) && x->value == y->value;
}

Interpolation::Interpolation(const std::string& key, const SweepRange& range)
    : key_{key}, range_{range}, from_{end_of(key, range.from)}, to_{end_of(key, range.to)} {
  const auto refuse = [&](const SweepValue& value, const std::string& reason) {
    throw InputError{{sweep_complaint(value.place, key, reason)}};
  };
  if (column_unit(from_.kind) != column_unit(to_.kind))
    refuse(range.to, fmt::format("the ends of a range are of one kind, got {} and {}", range.from.text, range.to.text));
  if (from_.value >= to_.value)
    refuse(range.to, fmt::format("a range goes up, got {} to {}", range.from.text, range.to.text));
  if (range.logarithmic && from_.value <= 0)
    refuse(range.from, fmt::format("a logarithmic scale begins above 0, got {}", range.from.text));
  whole_ = is_whole(from_) && is_whole(to_);
  if (from_.is_quantity()) unit_ = magnitude_of("1" + from_.unit)->value;
}

std::string Interpolation::text(double value) const {
  if (whole_) return fmt::format("{:.0f}", std::round(value));
  return plain_decimal(value / unit_, range_.logarithmic ? kDigits : kLinearDigits) + from_.unit;
}

std::string Interpolation::at(double at) const {
  if (at <= 0) return range_.from.text;
  if (at >= 1) return range_.to.text;
  if (range_.logarithmic) return text(from_.value * std::pow(to_.value / from_.value, at));
  return text(from_.value + at * (to_.value - from_.value));
}

std::string Interpolation::draw(double at) const {
  if (range_.logarithmic) return text(from_.value * std::pow(to_.value / from_.value, at));
  if (whole_) return fmt::format("{:.0f}", from_.value + std::floor(at * (to_.value - from_.value + 1)));
  return plain_decimal((from_.value + at * (to_.value - from_.value)) / unit_, kDigits) + from_.unit;
}

std::vector<std::string> Interpolation::stepped() const {
  const SweepValue& step_text = *range_.step;
  const Magnitude step = end_of(key_, step_text);
  if (column_unit(step.kind) != column_unit(from_.kind) || step.value <= 0 || (whole_ && !is_whole(step)))
    throw InputError{{sweep_complaint(
        step_text.place, key_,
        fmt::format("the step from {} to {} can't be {}", range_.from.text, range_.to.text, step_text.text))}};
  constexpr double kSlack = 1e-9;  // 0.1 + 2 x 0.1 reaches 0.3
  const double count = std::floor((to_.value - from_.value) / step.value + kSlack);
  if (count >= static_cast<double>(kMaxSweepPoints))
    throw InputError{{sweep_complaint(step_text.place, key_, fmt::format("more than {} values", kMaxSweepPoints))}};
  std::vector<std::string> values{range_.from.text};
  for (double i = 1; i <= count; ++i) values.push_back(text(from_.value + i * step.value));
  return values;
}

std::vector<std::string> Interpolation::values() const {
  if (range_.step) return stepped();
  std::vector<std::string> values;
  const int points = *range_.points;
  for (int i = 0; i < points; ++i) {
    std::string value = points == 1 ? range_.from.text : at(static_cast<double>(i) / (points - 1));
    if (values.empty() || values.back() != value) values.push_back(std::move(value));
  }
  return values;
}

}  // namespace contend
