#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/explain_report.hpp"
#include "cli/interrupt.hpp"
#include "cli/load.hpp"
#include "cli/output.hpp"
#include "results/result_reader.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::string_view kExplainExamples[] = {
    "contend explain out/ job-17",
    "contend explain scenario.yaml job-17 --set policies.scheduling=fifo",
};

constexpr Option kExplainOptions[] = {
    kSetOption,
    {.name = "seed", .letter = '\0', .value = "N", .text = "of the replica to explain; the first one if not given"},
    {.name = "json", .letter = '\0', .value = "", .text = "print JSON instead of text"},
};

/// The run to explain. A folder contains its scenario, and the same scenario gives the same run.
struct ExplainedRun {
  Scenario scenario;
  std::uint64_t seed = 0;
  std::optional<std::string> digest;  ///< of the run in the folder
};

const StoredReplica& find_replica(const StoredResults& stored, const std::string& folder,
                                  std::optional<std::uint64_t> seed) {
  if (!seed) return stored.replicas.front();
  for (const StoredReplica& replica : stored.replicas)
    if (replica.seed == *seed) return replica;
  throw InputError{
      fmt::format("{}: no replica has the seed {}; the first has {}", folder, *seed, stored.replicas.front().seed)};
}

ExplainedRun load_run(const Arguments& arguments) {
  std::string path = arguments.positionals()[0];
  const auto seed = arguments.whole_number("seed", 0, std::numeric_limits<std::int64_t>::max());
  ExplainedRun run;
  if (std::filesystem::is_directory(path)) {
    if (arguments.has("set"))
      throw UsageError{"contend explain: --set changes a scenario, but the folder holds a finished run"};
    const StoredResults stored = read_result_manifest(path);
    const StoredReplica& replica = find_replica(stored, path, seed);
    run.seed = replica.seed;
    run.digest = replica.digest;
    path = (std::filesystem::path{path} / "scenario.yaml").string();
  }
  run.scenario = load_scenarios(arguments, {&path, 1}).scenarios.front();
  if (!run.digest) run.seed = run.scenario.seed;  // --seed overrides that of the scenario
  if (!run.scenario.overlap.given()) return run;
  Complaint complaint;
  complaint.file = path;
  complaint.reason = "an iteration study has no jobs to explain";
  throw InputError{{std::move(complaint)}};
}

int run_explain(const Arguments& arguments) {
  ExplainedRun run = load_run(arguments);
  catch_interrupts();
  RunHooks hooks;
  hooks.monitor = [](const Progress&) { return !interrupted(); };
  ExplainReport report;
  report.job = explain_job(run.scenario, run.seed, arguments.positionals()[1], hooks);
  if (interrupted()) {
    print_message("contend: interrupted; nothing was explained\n");
    return kExitInterrupted;
  }
  if (run.digest && *run.digest != fmt::format("{:016x}", report.job.result.digest))
    print_message(
        "contend: {}: this version of the program or of the job list gives other results than the folder has; "
        "the explanation is of the new results\n",
        arguments.positionals()[0]);
  report.source = arguments.positionals()[0];
  report.scheduling = run.scenario.scheduling.name;
  report.placement = run.scenario.placement.name;
  report.seed = run.seed;
  print_output("{}", arguments.has("json") ? explanation_json(report) : explanation_text(report));
  return kExitOk;
}

}  // namespace

const Command& explain_command() {
  static constexpr Command kCommand = {.name = "explain",
                                       .arguments = "RUN JOB",
                                       .summary = "Explain why a job of an output folder or scenario waited.",
                                       .examples = kExplainExamples,
                                       .options = kExplainOptions,
                                       .min_arguments = 2,
                                       .max_arguments = 2,
                                       .run = run_explain};
  return kCommand;
}

}  // namespace contend
