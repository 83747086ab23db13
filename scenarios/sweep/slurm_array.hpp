#pragma once
// Writes a sweep as a Slurm job array: each task runs one shard into a store of its own, and a further job merges the
// stores when all tasks have ended. Everything is in one folder:
//
//   shard.sh, merge.sh      the submitted scripts, which can also be run by hand: `bash shard.sh 3`
//   plan.csv                name, shards, runs and the merged store
//   submissions.csv         the jobs, in order of submission, and the shards of each
//   shards/shard-3.sqlite   the stores
//   logs/shard-3.log, logs/merge.log   what the scripts printed
//
// This file only converts between texts; it does not call Slurm.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The parameters of a submission.
struct SlurmSweep {
  std::string folder;              ///< absolute
  std::string name;                ///< of the sweep
  std::int64_t runs = 0;           ///< of the whole sweep
  std::int64_t shards = 1;         ///< number of array tasks
  std::string output;              ///< absolute path of the merged store
  std::string program;             ///< absolute path of contend
  std::string work_folder;         ///< folder relative to which the scenario was named, absolute
  std::vector<std::string> words;  ///< arguments of `contend sweep`: the scenario and the options that decide its
                                   ///< points
  unsigned threads = 1;            ///< of each task
  std::optional<std::string> partition, time, memory;  ///< in Slurm's syntax

  [[nodiscard]] std::string store(std::int64_t shard) const;
  /// The number of runs of a shard: every `shards`-th, starting with number `shard`.
  [[nodiscard]] std::int64_t runs_of(std::int64_t shard) const;
};

/// The script of one task. It resumes its store if there is one; a failing run is recorded and does not fail the task.
[[nodiscard]] std::string shard_script(const SlurmSweep& sweep);
[[nodiscard]] std::string merge_script(const SlurmSweep& sweep);
/// Writes and reads plan.csv; `folder` is where it was read. Fields that only the scripts need stay empty. Throws
/// InputError.
[[nodiscard]] std::string plan_csv(const SlurmSweep& sweep);
[[nodiscard]] SlurmSweep read_plan(const std::string& folder);

/// A submitted job: an array with some of the shards, or the merge of all.
struct SlurmSubmission {
  std::string job;                   ///< the number that sbatch gave it
  std::vector<std::int64_t> shards;  ///< empty: the merge
};
[[nodiscard]] std::string submissions_csv(const std::vector<SlurmSubmission>& submissions);
/// Reads submissions.csv; empty if there is no such file. Throws InputError.
[[nodiscard]] std::vector<SlurmSubmission> read_submissions(const std::string& folder);

/// Converts ascending numbers to text such as `0-3,7` and back. Throws InputError for other text.
[[nodiscard]] std::string ranges_text(const std::vector<std::int64_t>& numbers);
[[nodiscard]] std::vector<std::int64_t> parse_ranges(std::string_view text);

/// Parses the states of jobs and tasks as `squeue --noheader --states=all --format=%i|%T` prints them: `12_3` (a task),
/// `12_[4-7%2]` (waiting tasks) or `13`. The keys are job and task; the task is -1 for a job without tasks. Throws
/// InputError for other lines.
[[nodiscard]] std::map<std::pair<std::string, std::int64_t>, std::string> parse_queue(std::string_view text);
/// True if a task in that state may still work on its store.
[[nodiscard]] bool is_active(std::string_view state);

}  // namespace contend
