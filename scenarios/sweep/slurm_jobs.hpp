#pragma once
// The jobs of a sweep on Slurm: makes the folder of slurm_array.hpp, submits it, looks what has become of it, and
// submits again what did not end well.

#include "scenarios/sweep/slurm_array.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace contend {

/// Runs a command of Slurm and returns its output. Throws InputError if the command fails.
using SlurmCommand = std::function<std::string(const std::vector<std::string>& words)>;

inline constexpr std::int64_t kMostTasks = 1000;  // MaxArraySize of Slurm is 1001 where nobody has changed it
/// Runs of a task so that an array has about a hundred tasks.
[[nodiscard]] std::int64_t usual_chunk(std::int64_t runs);

/// Writes the scripts and the plan into a new folder. Throws InputError, also if the folder or the merged store is
/// there already.
void make_slurm_folder(const SlurmSweep& sweep);

/// What was submitted; a job that wasn't has no number.
struct SlurmJobs {
  std::string array;
  std::vector<std::int64_t> shards;  ///< of the array
  std::string merge;                 ///< of all shards, once they have ended well
};
[[nodiscard]] SlurmJobs submit_all(const SlurmSweep& sweep, const SlurmCommand& slurm);
[[nodiscard]] std::vector<std::int64_t> all_shards(const SlurmSweep& sweep);

struct ShardState {
  std::string state;      ///< of its last job, as Slurm calls it; empty if Slurm has forgotten it
  std::int64_t done = 0;  ///< runs in the store
  std::int64_t runs = 0;
  [[nodiscard]] bool is_done() const { return done == runs; }
};

struct SlurmProgress {
  SlurmSweep sweep;
  std::vector<SlurmSubmission> submissions;
  std::vector<ShardState> shards;
  std::string merge;                       ///< state of its last job
  std::vector<std::string> active_arrays;  ///< jobs with tasks that may still work

  [[nodiscard]] bool is_done() const;    ///< all shards are
  [[nodiscard]] bool is_merged() const;  ///< and the merged store is there
};
/// Throws InputError.
[[nodiscard]] SlurmProgress slurm_progress(const std::string& folder, const SlurmCommand& slurm);

/// Submits the shards that are neither done nor queued, and the merge where it is missing. Throws InputError.
[[nodiscard]] SlurmJobs submit_again(const SlurmProgress& progress, const SlurmCommand& slurm);

}  // namespace contend
