#pragma once
// Reads a folder that write_results() wrote, as far as a comparison of two runs needs it. It rejects a folder without
// manifest, missing files or columns that it needs, and values that are not numbers. A figure that the program version
// behind the folder did not compute is NaN.

#include "results/manifest.hpp"
#include "results/replica.hpp"
#include "sim/job.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A job: its demand, and when it ran.
struct StoredJob {
  std::string name;
  std::string model;
  JobState state = JobState::submitted;
  int gpus = 0;
  std::int64_t iterations = 0;  ///< 0 if the file does not say
  Time submit;
  std::optional<Time> start, finish;
  std::optional<Time> waited;         ///< over all waits; nothing if the file does not say
  Time held;                          ///< on GPUs
  std::optional<double> mean_gpus;    ///< over that time, of a job whose number of GPUs may change
  int interruptions = 0;              ///< by failures
  Time overhead, redone, away;        ///< as in jobs.csv
  std::string vc, user;               ///< empty: none, not known
  std::string outcome;                ///< of a finished job, as in jobs.csv
  std::string fusion, compression;    ///< of a job that trains an entry, as in jobs.csv; else empty
  std::optional<Time> measured_wait;  ///< on the real cluster
  bool follows = false;               ///< it comes after other jobs, so policies decide when it is submitted
  bool measured = true;               ///< the job counts in the figures of the run
  std::optional<double> cost;         ///< as in jobs.csv
  std::optional<Consumption> drawn;   ///< of a metered run
  std::vector<double> iteration;      ///< iteration_values(); empty if it has completed none
  bool is_variant = false;            ///< of an iteration study, in which a job is one settled iteration
};

/// One stored run.
struct StoredReplica {
  std::uint64_t seed = 0;
  std::string digest;           ///< hash of the results
  std::vector<double> figures;  ///< in the order of metrics(); NaN if there is no value
  std::vector<StoredJob> jobs;
};

/// A stored result folder.
struct StoredResults {
  std::string name;  ///< of the scenario
  std::string version, git_hash;
  std::string exit_state;    ///< as exit_state() returns it
  bool has_digests = false;  ///< not if an earlier version has written the folder: nobody sees whether it is damaged
  std::vector<InputFile> inputs;
  Draws draws = Draws::independent;  ///< Replica::draws
  std::vector<StoredReplica> replicas;
};

/// Converts a job, and a run, in memory to what reading their folder would give.
[[nodiscard]] StoredJob as_stored(const JobResult& job);
[[nodiscard]] StoredReplica as_stored(const Replica& replica);

/// The path of a file that every folder of this kind has. Throws InputError if somebody has deleted it.
[[nodiscard]] std::string result_file(const std::string& folder, std::string_view name);
/// Compares all files with their digests and reads only the manifest. Throws InputError with file and line.
[[nodiscard]] StoredResults read_result_manifest(const std::string& folder);
/// Reads manifest, figures and jobs. Throws InputError with file and line.
[[nodiscard]] StoredResults read_results(const std::string& folder);

}  // namespace contend
