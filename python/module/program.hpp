#pragma once
// Calls of the program's verbs from Python, without a process: what they print is returned, and Ctrl-C stops them.

#include "cli/run_scenarios.hpp"
#include "sim/error.hpp"

#include <string>
#include <vector>

namespace contend {

/// What a call of a verb has done.
struct VerbCall {
  int code = 0;                       ///< as the exit code of the program
  std::string output, messages;       ///< what the program would write on its standard streams
  std::vector<Complaint> complaints;  ///< of bad input
  std::vector<KeptRuns> runs;         ///< of the verb `run`
};

/// Calls a verb with these words, without the name of the program. Throws nothing that a user can cause. While it is
/// called from the main thread, Ctrl-C stops it as it stops the program, and reaches Python, too.
[[nodiscard]] VerbCall call_verb(const std::vector<std::string>& words);

/// Loads the plugins that these words name, each `--plugin=FILE`, and the plugins of the environment.
[[nodiscard]] VerbCall load_plugins_of(const std::vector<std::string>& words);

}  // namespace contend
