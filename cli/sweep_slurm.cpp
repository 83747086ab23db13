#include "cli/sweep_slurm.hpp"

#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "cli/running.hpp"
#include "cli/text_table.hpp"
#include "scenarios/sweep/slurm_array.hpp"
#include "scenarios/sweep/sweep_store.hpp"
#include "sim/error.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::int64_t kMostTasks = 1000;  // MaxArraySize of Slurm is 1001 where nobody has changed it
constexpr std::int64_t kUsualTasks = 100;

/// Runs a command of Slurm and returns what it prints.
std::string slurm(const std::vector<std::string>& words) {
  const ProcessResult result = run_process(words);
  if (result.code == 127)
    throw InputError{fmt::format("the command {} does not exist: is Slurm installed on this machine?", words[0])};
  if (result.code != 0)
    throw InputError{fmt::format("{} failed with exit code {}", fmt::join(words, " "), result.code)};
  return result.out;
}

/// The number of the job, which sbatch --parsable prints as `12` or `12;cluster`.
std::string submit(std::vector<std::string> words) {
  words.insert(words.begin(), {"sbatch", "--parsable"});
  const std::string out = slurm(words);
  const std::string job = out.substr(0, out.find_first_of(";\n"));
  if (job.empty() || job.find_first_not_of("0123456789") != std::string::npos)
    throw InputError{fmt::format("sbatch printed \"{}\", expected a job number", out)};
  return job;
}

/// Submits these shards, and the merge of all shards, to start when they and `others` (jobs that are still active) have
/// succeeded. Records every submission at once.
void submit_shards(const SlurmSweep& sweep, const std::vector<std::int64_t>& shards, std::vector<std::string> others,
                   std::vector<SlurmSubmission> submissions) {
  const std::string file = sweep.folder + "/submissions.csv";
  submissions.push_back({submit({"--array=" + ranges_text(shards), sweep.folder + "/shard.sh"}), shards});
  write_file(file, submissions_csv(submissions));
  others.push_back(submissions.back().job);
  submissions.push_back({submit({fmt::format("--dependency=afterok:{}", fmt::join(others, ":")),
                                 "--kill-on-invalid-dep=yes", sweep.folder + "/merge.sh"}),
                         {}});
  write_file(file, submissions_csv(submissions));
  fmt::print("job {}: shards {} of {}; job {} merges them into {}\n", others.back(), ranges_text(shards), sweep.shards,
             submissions.back().job, sweep.output);
}

std::vector<std::int64_t> all_shards(const SlurmSweep& sweep) {
  std::vector<std::int64_t> shards(static_cast<std::size_t>(sweep.shards));
  std::iota(shards.begin(), shards.end(), 0);
  return shards;
}

SlurmSweep slurm_sweep(const Arguments& arguments, const LoadedSweep& loaded) {
  SlurmSweep sweep;
  sweep.folder = std::filesystem::absolute(*arguments.value("slurm")).lexically_normal().string();
  while (sweep.folder.size() > 1 && sweep.folder.back() == '/') sweep.folder.pop_back();
  // sbatch would treat % as a pattern, and the others would break its directives.
  if (sweep.folder.find_first_of("%'\"\\\n") != std::string::npos)
    throw UsageError{fmt::format("--slurm {}: expected a path without %, quotes, \\ and line breaks", sweep.folder)};
  sweep.name = loaded.plan.info().name;
  sweep.runs = loaded.plan.info().runs;
  const std::int64_t usual = (sweep.runs + kUsualTasks - 1) / kUsualTasks;
  const auto chunk = static_cast<std::int64_t>(
      arguments.whole_number("chunk", 1, 1'000'000'000).value_or(static_cast<std::uint64_t>(usual)));
  sweep.shards = (sweep.runs + chunk - 1) / chunk;
  if (sweep.shards > kMostTasks)
    throw UsageError{fmt::format("--chunk {}: {} tasks for {} runs; an array has at most {}: use --chunk {} or more",
                                 chunk, sweep.shards, sweep.runs, kMostTasks,
                                 (sweep.runs + kMostTasks - 1) / kMostTasks)};
  sweep.output = std::filesystem::absolute(arguments.value("output").value_or(sweep.name + ".sqlite")).string();
  sweep.program = std::filesystem::read_symlink("/proc/self/exe").string();
  sweep.work_folder = std::filesystem::current_path().string();
  sweep.words = arguments.positionals();
  for (const std::string& assignment : arguments.values("set"))
    sweep.words.insert(sweep.words.end(), {"--set", assignment});
  if (const auto repeat = arguments.value("repeat")) sweep.words.insert(sweep.words.end(), {"--repeat", *repeat});
  if (arguments.has("per-job")) sweep.words.emplace_back("--per-job");
  sweep.threads = arguments.has("jobs") ? thread_count(arguments) : 1;
  sweep.partition = arguments.value("partition");
  sweep.time = arguments.value("time");
  sweep.memory = arguments.value("mem");
  return sweep;
}

struct ShardState {
  std::string state;      ///< of its last job, in Slurm's words; empty if Slurm no longer knows it
  std::int64_t done = 0;  ///< runs in the store
  std::int64_t runs = 0;
  [[nodiscard]] bool is_done() const { return done == runs; }
};

std::int64_t runs_in(const std::string& store) {
  if (!std::filesystem::exists(store)) return 0;
  try {
    return static_cast<std::int64_t>(SweepStore::open(store).runs().size());
  } catch (const InputError&) {
    return 0;  // a task is just creating it
  }
}

struct Look {
  SlurmSweep sweep;
  std::vector<SlurmSubmission> submissions;
  std::vector<ShardState> shards;
  std::string merge;                       ///< state of its last job
  std::vector<std::string> active_arrays;  ///< jobs with tasks that may still work
};

Look look(const std::string& folder) {
  Look seen;
  seen.sweep = read_plan(std::filesystem::absolute(folder).lexically_normal().string());
  seen.submissions = read_submissions(seen.sweep.folder);
  for (std::int64_t i = 0; i < seen.sweep.shards; ++i)
    seen.shards.push_back({{}, runs_in(seen.sweep.store(i)), seen.sweep.runs_of(i)});
  if (seen.submissions.empty()) return seen;
  // squeue fails for a job that Slurm no longer knows, so all jobs are listed.
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

/// Prints the state; returns 0 if the merged store exists, else 4.
int print_status(const Look& seen) {
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
  const bool merged = open == 0 && std::filesystem::exists(seen.sweep.output);
  fmt::print("{}: {} of {} runs in {} shards done\n", seen.sweep.name, done, seen.sweep.runs, seen.sweep.shards);
  if (open > 0) fmt::print("{}", table.text());
  if (open > kMaxShown) fmt::print("... and {} shards more\n", open - kMaxShown);
  if (merged)
    fmt::print("merged into {}\n", seen.sweep.output);
  else
    fmt::print("not merged yet{}\n", seen.merge.empty() ? "" : fmt::format(" (job: {})", seen.merge));
  return merged ? kExitOk : kExitUnfinished;
}

int resubmit(const Look& seen) {
  std::vector<std::int64_t> shards;
  for (std::size_t i = 0; i < seen.shards.size(); ++i)
    if (!seen.shards[i].is_done() && !is_active(seen.shards[i].state)) shards.push_back(static_cast<std::int64_t>(i));
  const bool waits_for_merge = seen.shards.size() == 0 || is_active(seen.merge);
  if (shards.empty()) {
    const bool all =
        std::all_of(seen.shards.begin(), seen.shards.end(), [](const ShardState& s) { return s.is_done(); });
    fmt::print("nothing to resubmit: {}\n", all ? "all shards are done" : "all unfinished shards are queued");
    if (!all || waits_for_merge || std::filesystem::exists(seen.sweep.output)) return kExitOk;
    std::vector<SlurmSubmission> submissions = seen.submissions;
    submissions.push_back({submit({seen.sweep.folder + "/merge.sh"}), {}});
    write_file(seen.sweep.folder + "/submissions.csv", submissions_csv(submissions));
    fmt::print("job {} merges them into {}\n", submissions.back().job, seen.sweep.output);
    return kExitOk;
  }
  // A merge that depends on failed jobs would wait forever.
  for (auto each = seen.submissions.rbegin(); waits_for_merge && each != seen.submissions.rend(); ++each) {
    if (!each->shards.empty()) continue;
    static_cast<void>(slurm({"scancel", each->job}));
    break;
  }
  submit_shards(seen.sweep, shards, seen.active_arrays, seen.submissions);
  return kExitOk;
}

}  // namespace

int submit_sweep(const Arguments& arguments, const LoadedSweep& loaded) {
  const SlurmSweep sweep = slurm_sweep(arguments, loaded);
  if (std::filesystem::exists(sweep.folder))
    throw InputError{fmt::format(
        "{}: this folder exists already; --status and --resubmit use it, --slurm needs a new one", sweep.folder)};
  if (std::filesystem::exists(sweep.output))
    throw InputError{fmt::format("{}: this store exists already; choose another with -o", sweep.output)};
  std::error_code error;
  for (const char* each : {"shards", "logs"}) std::filesystem::create_directories(sweep.folder + "/" + each, error);
  if (error) throw InputError{fmt::format("{}: the folder cannot be created: {}", sweep.folder, error.message())};
  write_file(sweep.folder + "/shard.sh", shard_script(sweep));
  write_file(sweep.folder + "/merge.sh", merge_script(sweep));
  write_file(sweep.folder + "/plan.csv", plan_csv(sweep));
  fmt::print("{}: {} runs in {} tasks\n", sweep.folder, sweep.runs, sweep.shards);
  if (arguments.has("dry-run"))
    fmt::print(
        "not submitted; that would be\n  sbatch --array={0} {1}/shard.sh\n  sbatch --dependency=afterok:JOB "
        "{1}/merge.sh\n",
        ranges_text(all_shards(sweep)), sweep.folder);
  else
    submit_shards(sweep, all_shards(sweep), {}, {});
  return kExitOk;
}

int look_at_sweep(const Arguments& arguments) {
  const Look seen = look(arguments.positionals().front());
  return arguments.has("resubmit") ? resubmit(seen) : print_status(seen);
}

}  // namespace contend
