#pragma once
// The text of a job's place in a job list.

#include "models/workload.hpp"

#include <optional>
#include <string_view>

namespace contend {

/// `server3`, `server3:2` or `server3:0-3`; nothing for any other text.
[[nodiscard]] std::optional<PlacePart> parse_place_part(std::string_view text);

}  // namespace contend
