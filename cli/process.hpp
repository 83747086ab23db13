#pragma once
// Runs other programs, such as the commands of Slurm.

#include <string>
#include <vector>

namespace contend {

struct ProcessResult {
  int code = 0;     ///< exit status; 127 if there is no such program; 128 + n if signal n ended it
  std::string out;  ///< its stdout; its stderr goes to the stderr of this program
};

/// Runs a program, found through PATH, with these words and waits for it. No shell is involved.
[[nodiscard]] ProcessResult run_process(const std::vector<std::string>& words);

}  // namespace contend
