#pragma once
// A sweep as an array of Slurm jobs: one task a shard, each with a store of its own, and a job that merges them when
// all have ended. Everything lives in one folder:
//
//   shard.sh, merge.sh      what is submitted; they can be run by hand too: `bash shard.sh 3`
//   plan.csv                name, shards, runs and the merged store
//   submissions.csv         the jobs, in order of submission, and the shards of each
//   shards/shard-3.sqlite   stores;   logs/shard-3.log, logs/merge.log   what they printed
//
// Nothing here talks to Slurm: texts in, texts out.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct SlurmSweep {
  std::string folder;              ///< absolute
  std::string name;                ///< of the sweep
  std::int64_t runs = 0;           ///< of the whole sweep
  std::int64_t shards = 1;         ///< tasks of the array
  std::string output;              ///< merged store, absolute
  std::string program;             ///< absolute path of contend
  std::string work_folder;         ///< where the scenario was named from, absolute
  std::vector<std::string> words;  ///< of `contend sweep`: the scenario and the options that decide its points
  unsigned threads = 1;            ///< of each task
  std::optional<std::string> partition, time, memory;  ///< as Slurm writes them

  [[nodiscard]] std::string store(std::int64_t shard) const;
  /// Runs of a shard: every `shards`-th, from `shard` on.
  [[nodiscard]] std::int64_t runs_of(std::int64_t shard) const;
};

/// The job of one task. It goes on with its store if there is one; a run that fails is recorded and no failure of the
/// task.
[[nodiscard]] std::string shard_script(const SlurmSweep& sweep);
[[nodiscard]] std::string merge_script(const SlurmSweep& sweep);
/// plan.csv and back; `folder` is where it was read. What only the scripts know stays empty. Throws InputError.
[[nodiscard]] std::string plan_csv(const SlurmSweep& sweep);
[[nodiscard]] SlurmSweep read_plan(const std::string& folder);

/// A submitted job: the array with some of the shards, or the merge of all.
struct SlurmSubmission {
  std::string job;                   ///< number that sbatch gave it
  std::vector<std::int64_t> shards;  ///< none: the merge
};
[[nodiscard]] std::string submissions_csv(const std::vector<SlurmSubmission>& submissions);
/// Empty if there is no such file. Throws InputError.
[[nodiscard]] std::vector<SlurmSubmission> read_submissions(const std::string& folder);

/// `0-3,7` of ascending numbers, and back. Throws InputError for anything else.
[[nodiscard]] std::string ranges_text(const std::vector<std::int64_t>& numbers);
[[nodiscard]] std::vector<std::int64_t> parse_ranges(std::string_view text);

/// States of jobs and tasks as `squeue --noheader --states=all --format=%i|%T` prints them: `12_3` (task), `12_[4-7%2]`
/// (tasks that wait) or `13`, by job and task (-1: the job has none). Throws InputError for other lines.
[[nodiscard]] std::map<std::pair<std::string, std::int64_t>, std::string> parse_queue(std::string_view text);
/// Whether a task in that state may still work on its store.
[[nodiscard]] bool is_active(std::string_view state);

}  // namespace contend
