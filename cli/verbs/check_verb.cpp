#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/load.hpp"
#include "cli/output.hpp"
#include "cli/sweep_load.hpp"
#include "scenarios/keys/key_places.hpp"
#include "scenarios/run/check_scenario.hpp"
#include "scenarios/run/run_notes.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "scenarios/training/training_check.hpp"
#include "sim/complaints.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

/// What there is to say about a scenario without complaints. Throws InputError.
std::string verdict(const std::string& file, const Arguments& arguments) {
  const std::vector<std::string> overrides = arguments.values("set");
  if (const std::optional<SweepPlan> sweep = sweep_of(file, overrides)) {
    for (const std::string& note : sweep->notes()) print_message("contend: warning: {}: {}\n", file, note);
    const Scenario first = sweep->scenario(0);
    if (const std::string note = version_note(first.schema_version, first.ideals); !note.empty())
      print_message("contend: note: {}: {}\n", file, note);
    return fmt::format("{}: ok, {}\n", file, extent_text(*sweep));
  }
  std::vector<Arguments::Given> given;
  for (const std::string& each : overrides) given.push_back({.name = "set", .value = each});
  const Scenario scenario = load_scenarios({{file}, std::move(given), {}}).scenarios.front();
  for (const std::string& note : check_scenario(scenario)) print_message("contend: warning: {}: {}\n", file, note);
  for (const std::string& note : inherited_notes(scenario.training))
    print_message("contend: note: {}: {}\n", file, note);
  JobLists lists;
  std::vector<std::string> warnings = effectless_notes(scenario.network, scenario.training), notes;
  for (std::string& note :
       unused_tables_notes(scenario.cluster, scenario.workload, scenario.sharing, scenario.training, lists))
    warnings.push_back(std::move(note));
  if (!scenario.overlap.given()) {
    warnings.push_back(nothing_to_weigh_note(scenario.scheduling, scenario.cluster,
                                             [&] { return scenario_jobs(scenario, scenario.seed, lists); }));
    notes = taken_batch_notes(scenario.cluster, scenario.workload, scenario.training, lists);
  }
  std::erase(warnings, "");
  for (const std::string& note : warnings) print_message("contend: warning: {}: {}\n", file, note);
  for (const std::string& note : notes) print_message("contend: note: {}: {}\n", file, note);
  if (const std::string note = flow_start_up_note(scenario, lists); !note.empty())
    print_message("contend: note: {}: {}\n", file, note);
  return fmt::format("{}: ok\n", file);
}

/// The verdict on a file, whose complaints all name the file.
std::string placed_verdict(const std::string& file, const Arguments& arguments) {
  try {
    return verdict(file, arguments);
  } catch (const InputError& error) {
    InputError placed{at_their_keys(file, {.overrides = arguments.values("set")}, error.complaints())};
    throw amended(placed, [&](Complaint& each) {
      if (each.file.empty()) each.file = file;
    });
  }
}

}  // namespace

int check_verb(const Arguments& arguments) {
  Complaints complaints;
  std::string verdicts;
  for (const std::string& file : arguments.positionals())
    complaints.collect([&] { verdicts += placed_verdict(file, arguments); });
  complaints.throw_if_any();
  print_output("{}", verdicts);
  return kExitOk;
}

}  // namespace contend
