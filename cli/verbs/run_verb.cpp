#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/group_report.hpp"
#include "cli/interrupt.hpp"
#include "cli/load.hpp"
#include "cli/output.hpp"
#include "cli/precision.hpp"
#include "cli/run_report.hpp"
#include "cli/run_scenarios.hpp"
#include "cli/running.hpp"
#include "cli/study_explain.hpp"
#include "cli/study_report.hpp"
#include "cli/study_warnings.hpp"
#include "cli/version.hpp"
#include "cli/warm_up_report.hpp"
#include "models/parallel/pass_names.hpp"
#include "results/certificate.hpp"
#include "results/chrome_trace.hpp"
#include "results/expectations.hpp"
#include "results/result_digests.hpp"
#include "results/result_writer.hpp"
#include "scenarios/keys/key_places.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/run/batch.hpp"
#include "scenarios/run/named_files.hpp"
#include "scenarios/run/run_notes.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/study/study_run.hpp"
#include "sim/error.hpp"
#include "text/new_folder.hpp"
#include "text/words.hpp"
#include "text/writer_lock.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::string_view kLockFile = ".lock";

/// Throws UsageError if the folder has files with the names of results that no run of contend has written, or that the
/// scenario reads.
void refuse_foreign_files(const std::string& folder, Scenario scenario) {
  std::vector<std::string> inputs;
  visit_paths(scenario, [&](const std::string& input) { inputs.push_back(input); });
  for (const std::string_view name : run_files())
    refuse_to_overwrite((std::filesystem::path{folder} / name).string(), inputs);
  const std::vector<Complaint> foreign = foreign_files(folder);
  if (foreign.empty()) return;
  std::string more;
  for (const Complaint& each : std::span{foreign}.subspan(1))
    more += (more.empty() ? " (and so " : ", ") + std::filesystem::path{each.file}.filename().string();
  throw UsageError{foreign.front().format() + (more.empty() ? "" : more + ")")};
}

/// The folder of each scenario. Those that are new and empty go when this goes, as after a refusal.
struct RunFolders {
  NewFolders made;
  std::deque<WriterLock> locks;  ///< keep other runs from writing there
  std::vector<std::string> paths;
};

/// Makes the folders, before the first run: a long run must not end with nowhere to write to.
RunFolders make_folders(const Arguments& arguments, std::span<const Scenario> scenarios) {
  RunFolders folders;
  if (!arguments.has("output")) return folders;
  const std::string top = *arguments.value("output");
  std::set<std::string> seen;
  for (const Scenario& scenario : scenarios) {
    const std::string name = file_name_of(scenario.name);
    if (!seen.insert(name).second)
      throw InputError{fmt::format("two scenarios are named \"{}\"; their folders would be the same", scenario.name)};
    folders.paths.push_back(scenarios.size() == 1 ? top : (std::filesystem::path{top} / name).string());
  }
  for (const std::string& folder : folders.paths) {
    folders.made.make(folder);
    folders.locks.emplace_back((std::filesystem::path{folder} / kLockFile).string(), folder);
  }
  for (std::size_t i = 0; i < folders.paths.size(); ++i) refuse_foreign_files(folders.paths[i], scenarios[i]);
  return folders;
}

Manifest run_manifest(const Scenario& scenario, const std::vector<InputFile>& inputs, const Arguments& arguments) {
  return {.version = version(),
          .git_hash = git_hash(),
          .command_line = arguments.command_line(),
          .scenario_name = scenario.name,
          .scenario_hash = scenario_hash(scenario),
          .inputs = inputs,
          .interrupted = interrupted()};
}

/// The first job that ended in this state, and why; empty if there is none.
std::string first_reason(std::span<const Replica> replicas, JobState state) {
  for (const Replica& replica : replicas)
    for (const JobResult& job : replica.result.jobs)
      if (job.state == state) return fmt::format("; the first, {}: {}", job.name, job.reason);
  return {};
}

/// What policies remarked, and lines for each scenario whose jobs did not all finish.
bool report_unfinished(const Scenario& scenario, std::span<const Replica> replicas) {
  std::size_t jobs = 0, failed = 0, given_up = 0, unfinished = 0;
  for (const Replica& replica : replicas) {
    jobs += replica.summary.jobs;
    failed += replica.summary.failed;
    given_up += replica.summary.given_up;
    unfinished += replica.summary.unfinished + replica.summary.not_submitted;
  }
  const auto has_remarks = [](const Replica& replica) { return !replica.result.remarks.empty(); };
  if (const auto first = std::ranges::find_if(replicas, has_remarks); first != replicas.end()) {
    for (const std::string& remark : first->result.remarks)
      print_message("contend: warning: {}: {}\n", scenario.name, remark);
    const auto more = std::ranges::count_if(replicas, has_remarks) - 1;
    if (more > 0) print_message("contend: warning: {}: so it is in {} more replicas\n", scenario.name, more);
  }
  if (failed + given_up + unfinished == 0) return false;
  if (failed > 0)
    print_message("contend: {}: {} of {} jobs failed{}\n", scenario.name, failed, jobs,
                  first_reason(replicas, JobState::failed));
  if (given_up > 0)
    print_message("contend: {}: {} of {} jobs were given up{}\n", scenario.name, given_up, jobs,
                  first_reason(replicas, JobState::given_up));
  if (unfinished > 0) print_message("contend: {}: {} of {} jobs did not finish\n", scenario.name, unfinished, jobs);
  return true;
}

/// One line for each scenario in which a policy outside of the program failed; false if none did.
bool report_failures(std::span<const Scenario> scenarios, std::span<const std::vector<Replica>> results) {
  bool any = false;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const auto failed = std::ranges::find_if(results[i], [](const Replica& each) { return !each.failure.empty(); });
    if (failed == results[i].end()) continue;
    print_message("contend: {}: seed {}: {}; the results end at {:g} s\n", scenarios[i].name, failed->seed,
                  failed->failure, failed->result.end.to_seconds());
    any = true;
  }
  return any;
}

/// One line for each scenario, about its first replica in which something was seen.
void warn_of(const std::function<std::string(const RunResult&)>& seen, const Scenario& scenario,
             std::span<const Replica> replicas) {
  for (const Replica& replica : replicas) {
    const std::string note = seen(replica.result);
    if (note.empty()) continue;
    print_message("contend: warning: {}: {}\n", scenario.name, note);
    return;
  }
}

/// What the runs met that a user may not expect.
void warn_of_results(std::span<const Scenario> scenarios, std::span<const std::vector<Replica>> results) {
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const Scenario& scenario = scenarios[i];
    warn_of([&](const RunResult& result) { return seen_idle_interfaces(scenario.cluster, scenario.network, result); },
            scenario, results[i]);
    warn_of([&](const RunResult& result) { return seen_torn_groups(scenario.training, result); }, scenario, results[i]);
  }
}

/// One line for each scenario whose first jobs change its averages.
void note_warm_ups(const Arguments& arguments, std::span<const Scenario> scenarios,
                   std::span<const std::vector<Replica>> results) {
  if (arguments.has("quiet")) return;
  for (std::size_t i = 0; i < scenarios.size(); ++i)
    if (const std::string note = warm_up_note(scenarios[i].measure, results[i]); !note.empty())
      print_message("contend: note: {}: {}\n", scenarios[i].name, note);
}

/// One line for each scenario whose jobs were preempted at no cost.
void note_free_preemptions(const Arguments& arguments, std::span<const Scenario> scenarios,
                           std::span<const std::vector<Replica>> results) {
  if (arguments.has("quiet")) return;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    double preemptions = 0;
    for (const Replica& each : results[i]) preemptions += static_cast<double>(each.summary.preemptions);
    if (const std::string note = free_preemptions_note(scenarios[i].checkpoints, preemptions); !note.empty())
      print_message("contend: note: {}: {}\n", scenarios[i].name, note);
  }
}

/// One line about the scenarios whose runs are one run, made under several seeds.
void warn_of_equal_runs(std::span<const Scenario> scenarios, std::span<const std::vector<Replica>> results) {
  std::vector<std::string> names;
  std::size_t runs = 0;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const auto digest = [](const Replica& replica) { return replica.result.digest; };
    if (results[i].size() < 2 || scenarios[i].overlap.given()) continue;
    if (std::ranges::adjacent_find(results[i], std::ranges::not_equal_to{}, digest) != results[i].end()) continue;
    names.push_back(scenarios[i].name);
    runs = results[i].size();
  }
  if (names.empty()) return;
  print_message(
      "contend: warning: {}: all {} runs are the same, because nothing in the scenario depends on the seed, so they "
      "say nothing about chance; `workload.resample` draws weeks of a job list again, and `contend compare` does so by "
      "itself\n",
      join(names), runs);
}

/// Whether every scenario met its own expectations; prints the expected and the found values.
bool report_expectations(const Arguments& arguments, std::span<const Scenario> scenarios,
                         std::span<const std::vector<Replica>> results) {
  bool met = true;
  const bool text = !arguments.has("json") && !arguments.has("quiet");
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    if (scenarios[i].expect.empty()) continue;
    const std::vector<ExpectationOutcome> outcomes = judge_expectations(scenarios[i].expect, results[i]);
    if (text) print_output("\n{}: expectations\n{}", scenarios[i].name, coloured_verdicts(expectations_text(outcomes)));
    if (!text) print_unmet(scenarios[i].name, outcomes);
    met = met && all_met(outcomes);
  }
  return met;
}

bool is_iteration_study(std::span<const Scenario> scenarios) {
  const auto given = [](const Scenario& scenario) { return scenario.overlap.given(); };
  const bool any = std::ranges::any_of(scenarios, given);
  if (any && !std::ranges::all_of(scenarios, given))
    throw InputError{"iteration studies (overlap.*) and studies of jobs cannot share a table: run them separately"};
  return any;
}

/// By scenario.
using ExplainedStudies = std::vector<std::vector<StudyMessages>>;

/// The messages of studies that are to be explained or whose sizes are to be looked at; of the others, none. Warns of
/// sizes.
ExplainedStudies messages_of(const Arguments& arguments, std::span<const Scenario> scenarios, unsigned threads) {
  const bool warns = !arguments.has("quiet");
  ExplainedStudies messages;
  for (const Scenario& scenario : scenarios) {
    const bool wanted = arguments.has("explain") || (warns && scenario.network.fitted_bytes);
    messages.push_back(wanted ? messages_of_study(scenario, threads, arguments.has("explain"))
                              : std::vector<StudyMessages>{});
  }
  if (warns) warn_of_sizes(scenarios, messages);
  return messages;
}

/// Throws InputError if all jobs of a study have failed, because no policies of it can work together.
void refuse_impossible(std::span<const Scenario> scenarios, std::span<const std::vector<Replica>> results) {
  std::vector<Complaint> impossible;
  for (std::size_t i = 0; i < scenarios.size(); ++i)
    for (Complaint& each : why_impossible(scenarios[i].overlap, results[i].front().result))
      impossible.push_back(std::move(each));
  if (!impossible.empty()) throw InputError{std::move(impossible)};
}

/// Passes of a pipeline in the colours of drawings of such schedules: forward blue, backward green, weights orange.
std::optional<DrawnPass> drawn_pass(const Op& op) {
  const std::vector<NamedPass> passes = passes_of_name(op.name);
  if (passes.empty()) return {};
  if (passes.size() > 1) return DrawnPass{"forward and backward", "thread_state_unknown"};
  switch (passes.front().pass.kind) {
    case PassKind::forward:
      return DrawnPass{"forward", "rail_response"};
    case PassKind::backward:
      return DrawnPass{"backward", "thread_state_running"};
    case PassKind::backward_input:
      return DrawnPass{"backward, inputs", "thread_state_runnable"};
    case PassKind::backward_weight:
      return DrawnPass{"backward, weights", "rail_load"};
  }
  return {};
}

/// Throws UsageError if the run itself would write a file of this name into its folder.
void refuse_name_of_result(const std::string& file, const std::string& folder) {
  std::vector<std::string> names{std::string{kLockFile}, journal_of(folder)};
  for (const std::string_view name : run_files()) names.emplace_back(name);
  const std::filesystem::path wanted = std::filesystem::weakly_canonical(file);
  for (const std::string& name : names) {
    if (wanted == std::filesystem::weakly_canonical(folder) / std::filesystem::path{name}.filename())
      throw UsageError{fmt::format(
          "--timeline {}: the run writes this file itself into the folder of -o; write to another one", file)};
  }
}

std::unique_ptr<ChromeTrace> open_timeline(const Arguments& arguments, std::span<const Scenario> scenarios,
                                           std::span<const std::string> folders) {
  const std::optional<std::string> file = arguments.value("timeline");
  if (!file) return nullptr;
  if (batch_size(scenarios) != 1) throw UsageError{"--timeline draws a single run: give one scenario and --repeat 1"};
  if (scenarios.front().overlap.given() && study_variants(scenarios.front().overlap).size() != 1)
    throw UsageError{
        "--timeline draws the job of one variant: give --set 'overlap.fusion=[NAME]', and the same for "
        "overlap.workers and overlap.compression if there are several"};
  std::vector<std::string> inputs = arguments.positionals();
  Scenario scenario = scenarios.front();
  visit_paths(scenario, [&](const std::string& path) { inputs.push_back(path); });
  refuse_to_overwrite(*file, inputs);
  for (const std::string& folder : folders) refuse_name_of_result(*file, folder);
  return std::make_unique<ChromeTrace>(*file, observed_gpus(scenario.cluster, scenario.network, scenario.overlap),
                                       drawn_pass);
}

/// Groups of jobs, if they are wanted, and waits beside measured ones, if there are any.
void print_groups(std::span<const Scenario> scenarios, std::span<const std::vector<Replica>> results,
                  const std::vector<const Grouping*>& chosen) {
  const auto has_waits = [](const Replica& replica) {
    return std::ranges::any_of(replica.result.jobs, [](const JobResult& job) { return job.measured_wait.has_value(); });
  };
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    if (chosen.empty() && std::ranges::none_of(results[i], has_waits)) continue;
    std::vector<StoredReplica> stored;
    for (const Replica& replica : results[i]) stored.push_back(as_stored(replica));
    std::vector<std::string> tables;
    for (const Grouping* grouping : chosen) tables.push_back(group_table(stored, *grouping, draws_of(results[i])));
    if (const std::string waits = waits_table(stored); !waits.empty()) tables.push_back(waits);
    for (const std::string& table : tables)
      print_output("\n{}{}", scenarios.size() > 1 ? scenarios[i].name + "\n" : "", table);
  }
}

void print_studies(const Arguments& arguments, std::span<const Scenario> scenarios,
                   std::span<const std::vector<Replica>> results, const ExplainedStudies& messages) {
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    if (results[i].empty()) continue;
    const Scenario& each = scenarios[i];
    print_output("{}{}", i == 0 ? "" : "\n", study_text(each.name, each.overlap, results[i]));
    if (arguments.has("explain"))
      print_output("\n{}\n{}", assumptions_text(each.cluster, each.network, each.overlap, each.training),
                   messages_text(messages[i]));
  }
}

/// Of each scenario, by the jobs of its first replica; of a study, none.
std::vector<std::vector<PredictedIteration>> iterations_of(std::span<const Scenario> scenarios,
                                                           std::span<const std::vector<Replica>> results) {
  std::vector<std::vector<PredictedIteration>> all(scenarios.size());
  if (is_iteration_study(scenarios)) return all;
  for (std::size_t i = 0; i < scenarios.size(); ++i)
    if (!results[i].empty()) all[i] = predicted_iterations(scenarios[i], results[i].front().result);
  return all;
}

void print_comparison(std::span<const Scenario> scenarios, std::span<const std::vector<Replica>> results,
                      std::span<const std::vector<PredictedIteration>> iterations) {
  print_output("{}", comparison_text(scenarios, results));
  for (std::size_t i = 0; i < scenarios.size(); ++i)
    if (!iterations[i].empty()) print_output("{}:\n{}", scenarios[i].name, iterations_text(iterations[i]));
}

void print_results(const Arguments& arguments, std::span<const Scenario> scenarios,
                   std::span<const std::vector<Replica>> results, const ExplainedStudies& messages,
                   const std::vector<const Grouping*>& chosen) {
  const auto shown = arguments.has("explain") ? std::span{messages} : std::span<const std::vector<StudyMessages>>{};
  if (!arguments.has("json") && arguments.has("quiet")) return;
  const std::vector<std::vector<PredictedIteration>> iterations = iterations_of(scenarios, results);
  if (arguments.has("json")) return print_output("{}", results_json(scenarios, results, iterations, shown));
  if (scenarios.front().overlap.given())
    print_studies(arguments, scenarios, results, messages);
  else if (batch_size(scenarios) > 1)
    print_comparison(scenarios, results, iterations);
  else if (!results[0].empty())
    print_output("{}", summary_text(scenarios[0], results[0][0], iterations[0]));
  print_groups(scenarios, results, chosen);
}

/// The precision that the user asks for, or nothing; the scenarios then begin with enough seeds. Throws UsageError
/// where more seeds can't bring it.
std::optional<Precision> precision_of_scenarios(const Arguments& arguments, std::vector<Scenario>& scenarios) {
  std::optional<Precision> wanted = precision_of(arguments);
  if (!wanted) return wanted;
  if (arguments.has("timeline")) throw UsageError{"--until-precise makes several runs, but --timeline draws one"};
  for (Scenario& each : scenarios) {
    each.repeat = first_seeds(arguments, each.repeat);
    check_precision(*wanted, each.workload, each.overlap, each.repeat);
    if (each.seed != scenarios.front().seed || each.repeat != scenarios.front().repeat)
      throw UsageError{
          "--until-precise compares scenarios under the same seeds, but they have others: set --seed and --repeat"};
  }
  return wanted;
}

void write_folders(const Arguments& arguments, const RunFolders& folders, const LoadedScenarios& loaded,
                   std::span<const std::vector<Replica>> results, const ExplainedStudies& messages) {
  for (std::size_t i = 0; i < folders.paths.size(); ++i) {
    if (results[i].empty()) continue;
    std::vector<NamedText> more;
    if (arguments.has("explain")) more.push_back({"messages.csv", messages_csv(messages[i])});
    if (arguments.has("certificate"))
      more.insert(more.end(), {{"certificate.csv", certificate_csv(results[i])},
                               {"transfers.csv", transfers_csv(results[i])},
                               {"graphs.csv", graphs_csv(results[i])}});
    write_results(folders.paths[i], run_manifest(loaded.scenarios[i], loaded.inputs[i], arguments),
                  to_yaml(loaded.scenarios[i], folders.paths[i]), results[i], more);
  }
}

/// Throws UsageError if there is nothing that a log of jobs could be about, or nowhere to write it.
bool is_certified(const Arguments& arguments, bool are_studies) {
  if (!arguments.has("certificate")) return false;
  if (are_studies) throw UsageError{"--certificate logs the jobs of a cluster, and an iteration study has none"};
  if (!arguments.has("output"))
    throw UsageError{"--certificate writes certificate.csv into the folder of -o: give one"};
  return true;
}

}  // namespace

int run_verb(const Arguments& arguments) {
  return run_scenarios(arguments, nullptr);
}

int run_scenarios(const Arguments& arguments, std::vector<KeptRuns>* kept) {
  const ProgressMode mode = progress_mode(arguments);
  const unsigned threads = thread_count(arguments);
  LoadedScenarios loaded = load_scenarios(arguments);
  std::vector<Scenario>& scenarios = loaded.scenarios;
  std::vector<std::vector<InputFile>>& inputs = loaded.inputs;
  refuse_sweeps(scenarios);
  const bool are_studies = is_iteration_study(scenarios);
  if (arguments.has("explain") && !are_studies)
    throw UsageError{
        "--explain is about the jobs of an iteration study; `contend explain` explains a job of a cluster"};
  const bool certify = is_certified(arguments, are_studies);
  const std::vector<const Grouping*> chosen = chosen_groupings(arguments);
  if (arguments.has("json")) arguments.refuse("by", "with --json, which prints the figures of all groups");
  const std::optional<Precision> precision = precision_of_scenarios(arguments, scenarios);
  JobLists lists;
  for (std::size_t i = 0; (arguments.has("output") || kept != nullptr) && i < scenarios.size(); ++i)
    add_named_files(scenarios[i], lists, inputs[i]);
  const RunFolders folders = make_folders(arguments, scenarios);
  const std::unique_ptr<ChromeTrace> timeline = open_timeline(arguments, scenarios, folders.paths);

  warn_of_workloads(scenarios, lists);
  note_workloads(arguments, scenarios, lists);
  if (are_studies && !arguments.has("quiet")) warn_of_studies(scenarios);
  catch_interrupts();
  std::vector<std::vector<Replica>> results;
  try {
    results = simulate(scenarios, mode, threads, timeline.get(), lists, true, certify);
  } catch (const InputError& error) {
    if (scenarios.size() != 1 || arguments.has("point")) throw;
    throw InputError{
        at_their_keys(arguments.positionals().front(), {.overrides = arguments.values("set")}, error.complaints())};
  }
  std::optional<std::string> reached;
  if (precision)
    reached = run_until_precise(*precision, scenarios, results, [&](std::span<const Scenario> more) {
      return simulate(more, mode, threads, nullptr, lists, true, certify);
    });
  if (timeline) timeline->close();
  const auto messages = are_studies ? messages_of(arguments, scenarios, threads) : ExplainedStudies{};
  write_folders(arguments, folders, loaded, results, messages);
  const auto keep = [&] {
    for (std::size_t i = 0; kept != nullptr && i < scenarios.size(); ++i)
      kept->push_back({run_manifest(scenarios[i], inputs[i], arguments), to_yaml(scenarios[i]), std::move(results[i])});
  };
  print_results(arguments, scenarios, results, messages, chosen);
  if (interrupted()) {
    print_message("contend: interrupted; the results are partial\n");
    keep();
    return kExitInterrupted;
  }
  if (report_failures(scenarios, results)) {
    keep();
    return kExitPolicy;
  }
  warn_of_results(scenarios, results);
  if (reached && !arguments.has("quiet")) print_message("contend: note: {}\n", *reached);
  bool unfinished = false;
  if (are_studies) {
    refuse_impossible(scenarios, results);  // jobs whose policies can't work together are in the table
  } else {
    warn_of_equal_runs(scenarios, results);
    note_warm_ups(arguments, scenarios, results);
    note_free_preemptions(arguments, scenarios, results);
    for (std::size_t i = 0; i < scenarios.size(); ++i)
      if (report_unfinished(scenarios[i], results[i])) unfinished = true;
  }
  const bool met = report_expectations(arguments, scenarios, results);
  keep();
  if (!met) return kExitFailed;
  return unfinished ? kExitUnfinished : kExitOk;
}

}  // namespace contend
