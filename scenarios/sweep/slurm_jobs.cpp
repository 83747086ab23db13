#include "scenarios/sweep/slurm_jobs.hpp"

#include "scenarios/sweep/sweep_store.hpp"
#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "text/new_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

namespace contend {
namespace {

/// The number of the job, which sbatch --parsable prints as `12` or `12;cluster`.
std::string submit(std::vector<std::string> words, const SlurmCommand& slurm) {
  words.insert(words.begin(), {"sbatch", "--parsable"});
  const std::string out = slurm(words);
  const std::string job = out.substr(0, out.find_first_of(";\n"));
  if (job.empty() || job.find_first_not_of("0123456789") != std::string::npos)
    throw InputError{fmt::format("sbatch printed \"{}\", expected the number of a job", out)};
  return job;
}

/// Submits these shards, and the merge of all for when they and `others` (jobs that are still active) have ended well.
/// What was submitted is noted at once.
SlurmJobs submit_shards(const SlurmSweep& sweep, const std::vector<std::int64_t>& shards,
                        std::vector<std::string> others, std::vector<SlurmSubmission> submissions,
                        const SlurmCommand& slurm) {
  const std::string file = sweep.folder + "/submissions.csv";
  SlurmJobs jobs;
  jobs.shards = shards;
  jobs.array = submit({"--array=" + ranges_text(shards), sweep.folder + "/shard.sh"}, slurm);
  submissions.push_back({jobs.array, shards});
  write_file(file, submissions_csv(submissions));
  others.push_back(jobs.array);
  jobs.merge = submit({fmt::format("--dependency=afterok:{}", fmt::join(others, ":")), "--kill-on-invalid-dep=yes",
                       sweep.folder + "/merge.sh"},
                      slurm);
  submissions.push_back({jobs.merge, {}});
  write_file(file, submissions_csv(submissions));
  return jobs;
}

std::int64_t runs_in(const std::string& store) {
  if (!std::filesystem::exists(store)) return 0;
  try {
    return static_cast<std::int64_t>(SweepStore::open(store).runs().size());
  } catch (const InputError&) {
    return 0;  // a task is just creating it
  }
}

/// The merge alone, where all shards are done and it has neither happened nor is to happen.
SlurmJobs submit_merge(const SlurmProgress& progress, const SlurmCommand& slurm) {
  SlurmJobs jobs;
  jobs.merge = submit({progress.sweep.folder + "/merge.sh"}, slurm);
  std::vector<SlurmSubmission> submissions = progress.submissions;
  submissions.push_back({jobs.merge, {}});
  write_file(progress.sweep.folder + "/submissions.csv", submissions_csv(submissions));
  return jobs;
}

}  // namespace

std::int64_t usual_chunk(std::int64_t runs) {
  constexpr std::int64_t kUsualTasks = 100;
  return (runs + kUsualTasks - 1) / kUsualTasks;
}

void make_slurm_folder(const SlurmSweep& sweep) {
  if (std::filesystem::exists(sweep.folder))
    throw InputError{fmt::format("{}: it is there already: --status and --resubmit look at it, --slurm makes a new one",
                                 sweep.folder)};
  if (std::filesystem::exists(sweep.output))
    throw InputError{fmt::format("{}: there is a store already; -o writes another one", sweep.output)};
  for (const char* each : {"shards", "logs"}) static_cast<void>(make_folder(sweep.folder + "/" + each));
  write_file(sweep.folder + "/shard.sh", shard_script(sweep));
  write_file(sweep.folder + "/merge.sh", merge_script(sweep));
  write_file(sweep.folder + "/plan.csv", plan_csv(sweep));
}

std::vector<std::int64_t> all_shards(const SlurmSweep& sweep) {
  std::vector<std::int64_t> shards(static_cast<std::size_t>(sweep.shards));
  std::iota(shards.begin(), shards.end(), 0);
  return shards;
}

SlurmJobs submit_all(const SlurmSweep& sweep, const SlurmCommand& slurm) {
  return submit_shards(sweep, all_shards(sweep), {}, {}, slurm);
}

bool SlurmProgress::is_done() const {
  return std::all_of(shards.begin(), shards.end(), [](const ShardState& each) { return each.is_done(); });
}

bool SlurmProgress::is_merged() const {
  return is_done() && std::filesystem::exists(sweep.output);
}

SlurmProgress slurm_progress(const std::string& folder, const SlurmCommand& slurm) {
  SlurmProgress seen;
  seen.sweep = read_plan(std::filesystem::absolute(folder).lexically_normal().string());
  seen.submissions = read_submissions(seen.sweep.folder);
  for (std::int64_t i = 0; i < seen.sweep.shards; ++i)
    seen.shards.push_back({{}, runs_in(seen.sweep.store(i)), seen.sweep.runs_of(i)});
  if (seen.submissions.empty()) return seen;
  // A job that Slurm has forgotten would make squeue fail if it were asked about alone.
  const auto states = parse_queue(slurm({"squeue", "--noheader", "--states=all", "--format=%i|%T"}));
  const auto state_of = [&](const std::string& job, std::int64_t task) {
    const auto found = states.find({job, task});
    return found == states.end() ? std::string{} : found->second;
  };
  for (const SlurmSubmission& each : seen.submissions) {
    if (each.shards.empty()) seen.merge = state_of(each.job, -1);
    bool active = false;
    for (const std::int64_t shard : each.shards) {
      if (shard >= seen.sweep.shards)
        throw InputError{fmt::format("{}/submissions.csv: shard {} of {}", folder, shard, seen.sweep.shards)};
      ShardState& state = seen.shards[static_cast<std::size_t>(shard)];
      state.state = state_of(each.job, shard);
      active = active || is_active(state.state);
    }
    if (active) seen.active_arrays.push_back(each.job);
  }
  return seen;
}

SlurmJobs submit_again(const SlurmProgress& progress, const SlurmCommand& slurm) {
  std::vector<std::int64_t> shards;
  for (std::size_t i = 0; i < progress.shards.size(); ++i)
    if (!progress.shards[i].is_done() && !is_active(progress.shards[i].state))
      shards.push_back(static_cast<std::int64_t>(i));
  const bool waits_for_merge = progress.shards.empty() || is_active(progress.merge);
  if (shards.empty()) {
    if (!progress.is_done() || waits_for_merge || progress.is_merged()) return {};
    return submit_merge(progress, slurm);
  }
  // The merge that waits for the jobs that failed would wait forever.
  for (auto each = progress.submissions.rbegin(); waits_for_merge && each != progress.submissions.rend(); ++each) {
    if (!each->shards.empty()) continue;
    static_cast<void>(slurm({"scancel", each->job}));
    break;
  }
  return submit_shards(progress.sweep, shards, progress.active_arrays, progress.submissions, slurm);
}

}  // namespace contend
