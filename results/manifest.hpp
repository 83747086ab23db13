#pragma once
// The manifest of an output folder: which program ran, from which inputs, and how the run ended. It is the only result
// file that may differ between two runs of one scenario.

#include "results/replica.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

/// An input file and the hash of its content, taken when the file is read, because the file may change during a long
/// run. A result file, and the hash of what was written.
struct InputFile {
  std::string path;
  std::string sha256;
};

struct Manifest {
  std::string version;
  std::string git_hash;
  std::vector<std::string> command_line;
  std::string scenario_name;
  std::string scenario_hash;  ///< hash of the effective scenario
  std::vector<InputFile> inputs;
  bool interrupted = false;  ///< the user interrupted the run
};

/// The peak resident memory of this process so far, in MiB.
[[nodiscard]] double peak_memory_mib();

/// `finished`, `unfinished jobs`, `policy failed` or `interrupted`.
[[nodiscard]] std::string exit_state(const Manifest& manifest, std::span<const Replica> replicas);

/// With the result files, if any, and their digests.
[[nodiscard]] std::string manifest_json(const Manifest& manifest, std::span<const Replica> replicas,
                                        std::span<const InputFile> files = {});

}  // namespace contend
