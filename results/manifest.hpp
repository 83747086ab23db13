#pragma once
// The manifest of an output folder: what ran, from which inputs, how it ended. The only result file that may differ
// between two runs of one scenario.

#include "results/replica.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

/// An input by its content. Whoever reads the file hashes the bytes that it reads: a second look may find others.
struct InputFile {
  std::string path;
  std::string sha256;
};

struct Manifest {
  std::string version;
  std::string git_hash;
  std::vector<std::string> command_line;
  std::string scenario_name;
  std::string scenario_hash;  ///< of the effective scenario
  std::vector<InputFile> inputs;
  bool interrupted = false;  ///< by the user
};

/// The largest resident memory of this process so far.
[[nodiscard]] double peak_memory_mib();

/// `finished`, `unfinished jobs` or `interrupted`.
[[nodiscard]] std::string exit_state(const Manifest& manifest, std::span<const Replica> replicas);

[[nodiscard]] std::string manifest_json(const Manifest& manifest, std::span<const Replica> replicas);

}  // namespace contend
