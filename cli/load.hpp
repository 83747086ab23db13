#pragma once
// From the words of a command line to scenarios: the same options mean the same in run, check and show.

#include "cli/command.hpp"
#include "results/manifest.hpp"
#include "scenarios/scenario.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

/// The options that override keys of a scenario.
inline constexpr Option kSetOption = {.name = "set",
                                      .letter = '\0',
                                      .value = "KEY=VALUE",
                                      .text = "override a key of every scenario",
                                      .repeatable = true};

struct LoadedScenarios {
  std::vector<Scenario> scenarios;
  std::vector<std::vector<InputFile>> inputs;  ///< of each: its file and those that it includes
};

/// Loads every scenario with the overrides of `arguments`. Throws one InputError with the complaints of all files.
[[nodiscard]] LoadedScenarios load_scenarios(const Arguments& arguments);

/// The same of `paths` instead of all positional arguments, with `more` overrides on top.
[[nodiscard]] LoadedScenarios load_scenarios(const Arguments& arguments, std::span<const std::string> paths,
                                             const std::vector<std::string>& more);

/// A folder name for the results: the scenario's name with what a path could trip over replaced.
[[nodiscard]] std::string folder_name(const Scenario& scenario);

}  // namespace contend
