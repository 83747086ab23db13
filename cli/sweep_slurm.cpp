#include "cli/sweep_slurm.hpp"
#include "cli/load.hpp"

#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/process.hpp"
#include "cli/running.hpp"
#include "cli/text_table.hpp"
#include "scenarios/sweep/slurm_jobs.hpp"
#include "sim/error.hpp"

#include <cstdint>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

std::string slurm(const std::vector<std::string>& words) {
  const ProcessResult result = run_process(words);
  if (result.code == 127)
    throw InputError{fmt::format("the command {} does not exist: is Slurm installed on this machine?", words[0])};
  if (result.code != 0)
    throw InputError{fmt::format("{} failed with exit code {}", fmt::join(words, " "), result.code)};
  return result.out;
}

void print_jobs(const SlurmSweep& sweep, const SlurmJobs& jobs) {
  if (!jobs.array.empty())
    print_output("job {}: shards {} of {}; ", jobs.array, ranges_text(jobs.shards), sweep.shards);
  print_output("job {}: merges them into {}\n", jobs.merge, sweep.output);
}

/// Refuses what sbatch would refuse after the folder has been written.
void check_limits(const Arguments& arguments) {
  static const std::regex kTime{R"((\d+|\d+:\d+|\d+:\d+:\d+|\d+-\d+(:\d+){0,2}|UNLIMITED|INFINITE))"},
      kMemory{R"(\d+[KMGT]?)"};
  if (const auto time = arguments.value("time"); time && !std::regex_match(*time, kTime))
    throw UsageError{
        fmt::format("--time: expected a limit such as 90 (minutes), 1:30:00 or 2-12 (days-hours), got \"{}\"", *time)};
  if (const auto memory = arguments.value("mem"); memory && !std::regex_match(*memory, kMemory))
    throw UsageError{fmt::format("--mem: expected a size such as 4000 (MB) or 8G, got \"{}\"", *memory)};
}

SlurmSweep slurm_sweep(const Arguments& arguments, const LoadedSweep& loaded) {
  check_limits(arguments);
  SlurmSweep sweep;
  sweep.folder = std::filesystem::absolute(*arguments.value("slurm")).lexically_normal().string();
  while (sweep.folder.size() > 1 && sweep.folder.back() == '/') sweep.folder.pop_back();
  // sbatch would treat % as a pattern, and the others would break its directives.
  if (sweep.folder.find_first_of("%'\"\\\n") != std::string::npos)
    throw UsageError{fmt::format("--slurm {}: expected a path without %, quotes, \\ and line breaks", sweep.folder)};
  sweep.name = loaded.plan.info().name;
  sweep.runs = loaded.plan.info().runs;
  const auto chunk = static_cast<std::int64_t>(
      arguments.whole_number("chunk", 1, 1'000'000'000).value_or(static_cast<std::uint64_t>(usual_chunk(sweep.runs))));
  sweep.shards = (sweep.runs + chunk - 1) / chunk;
  if (sweep.shards > kMostTasks)
    throw UsageError{fmt::format("--chunk {}: {} tasks for {} runs; an array has at most {}: use --chunk {} or more",
                                 chunk, sweep.shards, sweep.runs, kMostTasks,
                                 (sweep.runs + kMostTasks - 1) / kMostTasks)};
  sweep.output =
      std::filesystem::absolute(arguments.value("output").value_or(file_name_of(sweep.name) + ".sqlite")).string();
  sweep.program = std::filesystem::read_symlink("/proc/self/exe").string();
  sweep.work_folder = std::filesystem::current_path().string();
  sweep.words = arguments.positionals();
  for (const std::string& assignment : arguments.values("set"))
    sweep.words.insert(sweep.words.end(), {"--set", assignment});
  if (const auto repeat = arguments.value("repeat")) sweep.words.insert(sweep.words.end(), {"--repeat", *repeat});
  if (arguments.has("per-job")) sweep.words.emplace_back("--per-job");
  if (const auto timeout = arguments.value("timeout")) sweep.words.insert(sweep.words.end(), {"--timeout", *timeout});
  for (const std::string& grouping : arguments.values("by")) sweep.words.insert(sweep.words.end(), {"--by", grouping});
  sweep.threads = arguments.has("jobs") ? thread_count(arguments) : 1;
  sweep.partition = arguments.value("partition");
  sweep.time = arguments.value("time");
  sweep.memory = arguments.value("mem");
  return sweep;
}

/// Exit code 0 when the merged store is there, 4 while it isn't.
int print_status(const SlurmProgress& seen) {
  std::int64_t done = 0;
  std::map<std::string, std::int64_t> by_state;
  Table table{{"shard", "runs done", "of", "state"}};
  table.align_left(3);
  std::size_t open = 0;
  for (std::size_t i = 0; i < seen.shards.size(); ++i) {
    const ShardState& shard = seen.shards[i];
    done += shard.done;
    if (shard.is_done() || ++open > kMaxShown) continue;
    const std::string state = shard.state.empty() ? "not known to Slurm" : shard.state;
    table.add({fmt::format("{}", i), fmt::format("{}", shard.done), fmt::format("{}", shard.runs), state});
  }
  const bool merged = seen.is_merged();
  print_output("{}: {} of {} runs in {} shards done\n", seen.sweep.name, done, seen.sweep.runs, seen.sweep.shards);
  if (open > 0) print_output("{}", table.text());
  if (open > kMaxShown) print_output("... and {} shards more\n", open - kMaxShown);
  if (merged)
    print_output("merged into {}\n", seen.sweep.output);
  else
    print_output("not merged yet{}\n", seen.merge.empty() ? "" : fmt::format(" (job: {})", seen.merge));
  return merged ? kExitOk : kExitUnfinished;
}

int resubmit(const SlurmProgress& seen) {
  const SlurmJobs jobs = submit_again(seen, slurm);
  if (jobs.array.empty())
    print_output("nothing to resubmit: {}\n", seen.is_done() ? "all shards are done" : "what is not done is queued");
  if (!jobs.merge.empty()) print_jobs(seen.sweep, jobs);
  return kExitOk;
}

}  // namespace

int submit_sweep(const Arguments& arguments, const LoadedSweep& loaded) {
  const SlurmSweep sweep = slurm_sweep(arguments, loaded);
  make_slurm_folder(sweep);
  print_output("{}: {} runs in {} tasks\n", sweep.folder, sweep.runs, sweep.shards);
  if (arguments.has("dry-run"))
    print_output(
        "not submitted; that would be\n  sbatch --array={0} {1}/shard.sh\n  sbatch --dependency=afterok:JOB "
        "{1}/merge.sh\n",
        ranges_text(all_shards(sweep)), sweep.folder);
  else
    print_jobs(sweep, submit_all(sweep, slurm));
  return kExitOk;
}

int look_at_sweep(const Arguments& arguments) {
  const SlurmProgress seen = slurm_progress(arguments.positionals().front(), slurm);
  return arguments.has("resubmit") ? resubmit(seen) : print_status(seen);
}

}  // namespace contend
