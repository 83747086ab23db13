#pragma once
// Parses the words after a verb. Its implementation is the only file that uses Boost.Program_options.

#include "cli/command.hpp"

#include <span>
#include <string>

namespace contend {

/// Parses `words`, which follow the verb; `command_line` is the whole command, for the record. Throws UsageError for an
/// unknown option (with the nearest name), a missing or superfluous value, a repeated option that may be given once,
/// and a wrong number of positional arguments, unless --help is given.
[[nodiscard]] Arguments parse_arguments(const Command& command, std::span<const std::string> words,
                                        std::vector<std::string> command_line);

}  // namespace contend
