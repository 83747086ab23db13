#pragma once
// Other programs: the commands of Slurm.

#include <string>
#include <vector>

namespace contend {

struct ProcessResult {
  int code = 0;     ///< exit status; 127 if there is no such program; 128 + n if signal n ended it
  std::string out;  ///< what it printed; errors go where ours go
};

/// Runs a program, found by PATH, with these words, and waits for it. No shell is involved.
[[nodiscard]] ProcessResult run_process(const std::vector<std::string>& words);

}  // namespace contend
