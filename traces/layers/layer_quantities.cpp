#include "traces/layers/layer_quantities.hpp"

#include "text/decimal.hpp"

#include <fmt/core.h>

namespace contend {
namespace {

constexpr Time kLongestLayer = Time::seconds(3600);

}  // namespace

Time read_layer_time(std::string_view text, int decimals, TextPlace place, const std::string& key,
                     FileComplaints& complaints) {
  const ScaledDecimal number = parse_scaled(text, decimals);
  if (number.error == DecimalError::not_a_number)
    complaints.add(place, key, fmt::format("expected a time >= 0, got \"{}\"", text));
  else if (number.error == DecimalError::overflow || number.value > kLongestLayer.ns())
    complaints.add(place, key, fmt::format("{} is longer than an hour", text));
  else if (number.value < 0 || text.starts_with('-'))
    complaints.add(place, key, fmt::format("expected a time >= 0, got {}", text));
  else if (number.vanishes)
    complaints.add(place, key, fmt::format("expected 0, or a time of at least a nanosecond, got {}", text));
  else
    return Time::nanoseconds(number.value);
  return Time{};
}

}  // namespace contend
