#include "text/decimal_places.hpp"

#include "text/decimal.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace contend {

bool has_more_decimals(std::string_view text, int decimals) {
  if (parse_scaled(text, decimals).error != DecimalError::none) return false;
  const std::string_view number = text.substr(0, text.find_first_of("eE"));
  const std::size_t last = number.find_last_of("123456789");
  if (last == std::string_view::npos) return false;
  const std::size_t point = number.find('.');
  // Digits from the first behind the point to the last that isn't 0; not above 0 for one in front of it.
  std::int64_t places =
      point == std::string_view::npos || last < point
          ? static_cast<std::int64_t>(last) - static_cast<std::int64_t>(std::min(point, number.size())) + 1
          : static_cast<std::int64_t>(last - point);
  if (number.size() < text.size()) {
    std::string_view exponent = text.substr(number.size() + 1);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    places -= parse_integer(exponent).value;
  }
  return places > decimals;
}

}  // namespace contend
