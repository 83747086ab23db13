#pragma once
// What the program does with its command line once it has one, as functions that throw. run_program() makes exit codes
// of what they throw, and the Python module makes exceptions.

#include "sim/error.hpp"

#include <string>
#include <vector>

namespace contend {

/// Loads the plugins that the environment and the options in front of the verb name, and takes these options out of
/// `words`, whose first is the name of the program. True if there are any. Throws UsageError and InputError.
bool load_plugins(std::vector<std::string>& words);

/// Calls the verb that follows the name of the program in `words` and returns its exit code; `command_line` is what the
/// user gave, for the record. Throws UsageError, InputError, and std::system_error of the system.
int dispatch(const std::vector<std::string>& words, const std::vector<std::string>& command_line);

/// The complaints, each with its place and the lines of text that it quotes; of many the first ones.
[[nodiscard]] std::string complaints_text(const InputError& error);

}  // namespace contend
