#pragma once
// Loads scenarios from a command line, with the same options for run, check and show.

#include "cli/command.hpp"
#include "results/manifest.hpp"
#include "scenarios/scenario.hpp"
#include "sim/error.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

struct LoadedScenarios {
  std::vector<Scenario> scenarios;
  std::vector<std::vector<InputFile>> inputs;  ///< for each scenario, its file and those that are read with it
};

/// LoadOptions::more: the faults of the job list of a scenario that has faults itself. Nothing about a file that can't
/// be found: where it is may be what is wrong.
[[nodiscard]] std::vector<Complaint> faults_of_list(const Scenario& scenario, bool training_read);

/// Loads every scenario with the overrides of `arguments`; with --point, that point of each. Throws one InputError with
/// the complaints of all files.
[[nodiscard]] LoadedScenarios load_scenarios(const Arguments& arguments);

/// The same for `paths` instead of all positional arguments, and with the overrides `more` on top, which the option
/// `more_option` gave.
[[nodiscard]] LoadedScenarios load_scenarios(const Arguments& arguments, std::span<const std::string> paths,
                                             const std::vector<std::string>& more = {},
                                             const std::string& more_option = {});

/// Prints what a reader noted about overrides, each line once.
void print_load_notes(const Arguments& arguments, std::vector<std::string> notes);

/// Says of results of an earlier version, which have no digests, that nobody can see whether they are damaged.
void note_unchecked(const Arguments& arguments, const std::string& path, bool has_digests);

/// Throws InputError if a scenario describes a sweep, which is many runs.
void refuse_sweeps(std::span<const Scenario> scenarios);

/// Throws InputError unless the scenario, loaded from `path`, has a fabric.
void need_fabric(const NetworkSetup& network, const std::string& path);

/// The error with what would be right where a complaint is about `--set` with several values.
[[nodiscard]] InputError with_set_hints(const InputError& error);

/// A name of a scenario as one of a file or folder: without separators, and never hidden or a way out of the folder.
[[nodiscard]] std::string file_name_of(std::string name);

}  // namespace contend
