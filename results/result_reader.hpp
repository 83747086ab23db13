#pragma once
// Reads a folder that write_results() wrote, as far as comparing two runs needs it. Strict about what it needs: a file
// or column that is missing, a value that is no number, a folder without its manifest. A figure that the program which
// wrote the folder did not know is NaN.

#include "results/manifest.hpp"
#include "results/replica.hpp"
#include "sim/job.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// A job as it was asked for, and when it ran.
struct StoredJob {
  std::string name;
  std::string model;
  JobState state = JobState::submitted;
  int gpus = 0;
  std::int64_t iterations = 0;  ///< 0 if the file does not say
  Time submit;
  std::optional<Time> start, finish;
};

struct StoredReplica {
  std::uint64_t seed = 0;
  std::string digest;           ///< hash over the results
  std::vector<double> figures;  ///< in the order of metrics(); NaN where there is no value
  std::vector<StoredJob> jobs;
};

struct StoredResults {
  std::string name;  ///< of the scenario
  std::string version, git_hash;
  std::string exit_state;  ///< as exit_state()
  std::vector<InputFile> inputs;
  std::vector<StoredReplica> replicas;
};

/// What the folder would say of this run.
[[nodiscard]] StoredReplica as_stored(const Replica& replica);

/// Throws InputError with file and line, as read_results().
[[nodiscard]] StoredResults read_result_manifest(const std::string& folder);
/// Also figures and jobs. Throws InputError with file and line.
[[nodiscard]] StoredResults read_results(const std::string& folder);

}  // namespace contend
