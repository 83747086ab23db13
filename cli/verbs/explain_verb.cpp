#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/explain_report.hpp"
#include "cli/explain_request.hpp"
#include "cli/interrupt.hpp"
#include "cli/load.hpp"
#include "cli/output.hpp"
#include "cli/study_explain.hpp"
#include "results/result_reader.hpp"
#include "scenarios/study/study_run.hpp"
#include "sim/error.hpp"
#include "text/json_writer.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>

#include <fmt/core.h>

namespace contend {
namespace {

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
    note_unchecked(arguments, path, stored.has_digests);
    const StoredReplica& replica = find_replica(stored, path, seed);
    run.seed = replica.seed;
    run.digest = replica.digest;
    path = (std::filesystem::path{path} / "scenario.yaml").string();
  }
  run.scenario = load_scenarios(arguments, {&path, 1}).scenarios.front();
  if (!run.digest) run.seed = run.scenario.seed;  // --seed overrides the seed of the scenario
  return run;
}

/// The messages of a job of an iteration study, which never waits.
int explain_messages(const Arguments& arguments, const Scenario& scenario) {
  const std::string& job = arguments.positionals()[1];
  const std::vector<StudyVariant> variants = study_variants(scenario.overlap);
  std::vector<std::string> names;
  for (const StudyVariant& each : variants) names.push_back(each.name());
  const auto found = std::ranges::find(names, job);
  if (found == names.end())
    throw InputError{{.file = arguments.positionals()[0],
                      .reason = fmt::format("the study has no job \"{}\"", job),
                      .hint = did_you_mean(job, names)}};
  Scenario alone = scenario;
  const StudyVariant& variant = variants[static_cast<std::size_t>(found - names.begin())];
  alone.overlap.workers = {variant.workers};
  alone.overlap.compression = {variant.compression};  // all fusion policies stay: `search` starts from the others
  std::vector<StudyMessages> messages = messages_of_study(alone);
  std::erase_if(messages, [&](const StudyMessages& each) { return each.job != job; });
  if (messages.empty()) {
    const RunResult result = run_study(alone);
    const auto failed = std::ranges::find(result.jobs, job, &JobResult::name);
    throw InputError{{.file = arguments.positionals()[0],
                      .reason = fmt::format("{} is not possible here: {}", job, failed->reason)}};
  }
  if (!arguments.has("json")) {
    print_output("{}", messages_text(messages));
    return kExitOk;
  }
  JsonWriter json;
  json.begin_object().member("job_id", job);
  messages_json(json, messages.front());
  json.end_object();
  print_output("{}", json.take());
  return kExitOk;
}

}  // namespace

int explain_verb(const Arguments& arguments) {
  ExplainedRun run = load_run(arguments);
  const auto request = arguments.whole_number("request", 0, std::numeric_limits<std::uint32_t>::max());
  if (request) arguments.refuse("json", "with --request: requests.csv has its figures");
  if (run.scenario.overlap.given()) {
    if (request) throw UsageError{"contend explain: --request means nothing to an iteration study"};
    if (arguments.has("waits"))
      throw UsageError{"contend explain: --waits means nothing to an iteration study, whose jobs never wait"};
    return explain_messages(arguments, run.scenario);
  }
  catch_interrupts();
  RunHooks hooks;
  hooks.monitor = [](const Progress&) { return !interrupted(); };
  ExplainReport report;
  report.job = explain_job(run.scenario, run.seed, arguments.positionals()[1], hooks,
                           arguments.has("waits") || request ? ExplainWhat::waits : ExplainWhat::waits_and_iterations);
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
  if (request) {
    print_output("{}", request_text(report, *request));
    return kExitOk;
  }
  print_output("{}", arguments.has("json") ? explanation_json(report) : explanation_text(report));
  return kExitOk;
}

}  // namespace contend
