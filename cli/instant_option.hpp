#pragma once
// Reads options whose values are instants.

#include "cli/command.hpp"
#include "sim/units.hpp"

#include <optional>
#include <string_view>

namespace contend {

/// The value of an option as a date or as seconds on a clock, which messages call `clock`; nothing without the option.
/// A date without a time means its midnight, in UTC. Throws UsageError for any other text.
[[nodiscard]] std::optional<Time> instant_of(const Arguments& arguments, std::string_view option,
                                             std::string_view clock);

}  // namespace contend
