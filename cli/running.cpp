#include "cli/running.hpp"

#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "models/workloads/fitted.hpp"
#include "scenarios/run/batch.hpp"
#include "scenarios/run/run_notes.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "scenarios/training/training_check.hpp"
#include "sim/counted.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <thread>

#include <fmt/format.h>

namespace contend {

ProgressMode progress_mode(const Arguments& arguments) {
  const std::string word = arguments.value("progress").value_or(arguments.has("quiet") ? "never" : "auto");
  if (word == "auto") return ProgressMode::automatic;
  if (word == "always") return ProgressMode::always;
  if (word == "never") return ProgressMode::never;
  throw UsageError{fmt::format("--progress: expected auto, always or never, got \"{}\"", word)};
}

unsigned thread_count(const Arguments& arguments) {
  if (runs_alone()) return 1;
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  return static_cast<unsigned>(arguments.whole_number("jobs", 1, 4096).value_or(cores));
}

void note_workloads(const Arguments& arguments, std::span<const Scenario> scenarios, JobLists& lists) {
  if (arguments.has("quiet")) return;
  std::set<std::string> seen;
  const auto print = [&](const std::string& note) {
    if (!note.empty() && seen.insert(note).second) print_message("contend: note: {}\n", note);
  };
  for (const Scenario& scenario : scenarios) {
    for (const std::string& note : inherited_notes(scenario.training)) print(note);
    if (!scenario.overlap.given())
      for (const std::string& note : taken_batch_notes(scenario.cluster, scenario.workload, scenario.training, lists))
        print(note);
    print(think_time_note(scenario.cluster, scenario.workload, scenario.training, lists));
    print(flow_start_up_note(scenario, lists));
  }
}

void warn_of_workloads(std::span<const Scenario> scenarios, JobLists& lists) {
  std::set<std::string> seen;
  const auto warn = [&](const std::string& text) {
    if (!text.empty() && seen.insert(text).second) print_message("contend: warning: {}\n", text);
  };
  for (const Scenario& scenario : scenarios) {
    if (scenario.workload.like) {
      const std::string caveat = ranking_caveat(*find_fitted_workload(*scenario.workload.like));
      warn(caveat.empty() ? "" : "workload.like: " + caveat);
    }
    warn(few_blocks_note(scenario.cluster, scenario.workload, scenario.training, lists));
    if (!scenario.overlap.given()) {
      warn(untrained_entries_note(scenario, scenario.workload, lists));
      warn(unserved_entries_note(scenario, scenario.workload, lists));
      warn(service_share_note(scenario.cluster, scenario.failures));
      warn(nothing_to_weigh_note(scenario.scheduling, scenario.cluster,
                                 [&] { return scenario_jobs(scenario, scenario.seed, lists); }));
    }
    warn(free_tensor_note(scenario.network, scenario.training));
    warn(nccl_machine_note(scenario.network));
    for (const std::string& note : effectless_notes(scenario.network, scenario.training)) warn(note);
    for (const std::string& note :
         unused_tables_notes(scenario.cluster, scenario.workload, scenario.sharing, scenario.training, lists))
      warn(note);
  }
}

std::vector<std::vector<Replica>> simulate(std::span<const Scenario> scenarios, ProgressMode mode, unsigned threads,
                                           Observer* observer, JobLists& lists, bool keep_failed, bool certify) {
  ProgressLine line{mode, batch_size(scenarios)};
  return run_batch(scenarios, {.threads = threads,
                               .observer = observer,
                               .progress = [&](std::size_t i, const Progress& p) { line.update(i, p); },
                               .lists = &lists,
                               .keep_failed = keep_failed,
                               .certify = certify,
                               .interrupted = interrupted});
}

std::string free_preemptions_note(const CheckpointSetup& checkpoints, double preemptions) {
  const CheckpointSetup& setup = checkpoints;
  if (!(preemptions > 0) || setup.restart > Time{} || setup.policy != CheckpointPolicy::continuous) return {};
  return fmt::format(
      "preemption is free here ({}): a preempted job goes on at once, and loses no more than an iteration in flight; "
      "`checkpoints.restart_cost` sets the time that it takes to restart, `checkpoints.policy` what it loses",
      counted(static_cast<std::int64_t>(preemptions), "preemption"));
}

void print_unmet(std::string_view name, std::span<const ExpectationOutcome> outcomes) {
  for (const ExpectationOutcome& each : outcomes)
    if (!each.met) print_message("contend: {}: expected {}: {}\n", name, each.expectation, each.reason);
}

}  // namespace contend
