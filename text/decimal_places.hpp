#pragma once
// Numbers as text that have more decimals than their reader keeps.

#include <string_view>

namespace contend {

/// True if parse_scaled() (text/decimal.hpp) rounds the number: it has more decimals that are not 0. False for text
/// that is no number.
[[nodiscard]] bool has_more_decimals(std::string_view text, int decimals);

}  // namespace contend
