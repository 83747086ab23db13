#include "scenarios/sweep/interpolation.hpp"

#include "scenarios/sweep/sweep_points.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr int kDigits = 6;         // of a value on a logarithmic scale or drawn
constexpr int kLinearDigits = 12;  // of one on a linear scale: 0.3, not 0.30000000000000004

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

const Magnitude& end_of(const std::string& key, const SweepValue& value) {
  if (!value.magnitude)
    throw InputError{
        {sweep_complaint(value.place, key, "an end of a range is a number or a quantity, got " + value.text)}};
  return *value.magnitude;
}

/// What follows the number.
std::string written_unit(const std::string& quantity) {
  return quantity.substr(std::min(quantity.find_first_not_of("0123456789. "), quantity.size()));
}

}  // namespace

Interpolation::Interpolation(const std::string& key, const SweepRange& range) : key_{key}, range_{range} {
  const Magnitude& from = end_of(key, range.from);
  const Magnitude& to = end_of(key, range.to);
  from_ = base_number(from);
  to_ = base_number(to);
  whole_ = is_integer(from) && is_integer(to);
  const auto refuse = [&](const SweepValue& value, const std::string& reason) {
    throw InputError{{sweep_complaint(value.place, key, reason)}};
  };
  if (base_unit(from) != base_unit(to))
    refuse(range.to, fmt::format("the ends of a range are of one kind, got {} and {}", range.from.text, range.to.text));
  if (from_ >= to_) refuse(range.to, fmt::format("a range goes up, got {} to {}", range.from.text, range.to.text));
  if (range.logarithmic && from_ <= 0)
    refuse(range.from, fmt::format("a logarithmic scale begins above 0, got {}", range.from.text));
  if (!is_quantity(from)) return;
  unit_ = written_unit(range.from.text);
  one_ = base_number(*parse_magnitude("1" + unit_));
}

std::string Interpolation::text(double value) const {
  if (whole_) return fmt::format("{:.0f}", std::round(value));
  return plain_decimal(value / one_, range_.logarithmic ? kDigits : kLinearDigits) + unit_;
}

std::string Interpolation::at(double at) const {
  if (at <= 0) return range_.from.text;
  if (at >= 1) return range_.to.text;
  if (range_.logarithmic) return text(from_ * std::pow(to_ / from_, at));
  return text(from_ + at * (to_ - from_));
}

std::string Interpolation::draw(double at) const {
  if (range_.logarithmic) return text(from_ * std::pow(to_ / from_, at));
  if (whole_) return fmt::format("{:.0f}", from_ + std::floor(at * (to_ - from_ + 1)));
  return plain_decimal((from_ + at * (to_ - from_)) / one_, kDigits) + unit_;
}

std::vector<std::string> Interpolation::stepped() const {
  const SweepValue& step_text = *range_.step;
  const Magnitude& magnitude = end_of(key_, step_text);
  const double step = base_number(magnitude);
  if (base_unit(magnitude) != base_unit(*range_.from.magnitude) || step <= 0 || (whole_ && !is_integer(magnitude)))
    throw InputError{{sweep_complaint(
        step_text.place, key_,
        fmt::format("the step from {} to {} can't be {}", range_.from.text, range_.to.text, step_text.text))}};
  constexpr double kSlack = 1e-9;  // 0.1 + 2 x 0.1 reaches 0.3
  const double count = std::floor((to_ - from_) / step + kSlack);
  if (count >= static_cast<double>(kMaxSweepPoints))
    throw InputError{{sweep_complaint(step_text.place, key_, fmt::format("more than {} values", kMaxSweepPoints))}};
  std::vector<std::string> values{range_.from.text};
  for (double i = 1; i <= count; ++i) values.push_back(text(from_ + i * step));
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
