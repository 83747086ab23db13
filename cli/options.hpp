#pragma once
// Reads the words behind a verb. The only file that sees Boost.Program_options.

#include "cli/command.hpp"

#include <span>
#include <string>

namespace contend {

/// Throws UsageError for an unknown option (with the nearest name), a missing or superfluous value, an option given
/// twice that may be given once, and too few or too many positional arguments. `words` follow the verb; `command_line`
/// is everything, for the record. With --help the number of arguments does not matter.
[[nodiscard]] Arguments parse_arguments(const Command& command, std::span<const std::string> words,
                                        std::vector<std::string> command_line);

}  // namespace contend
