#pragma once
// Finds the faults that a scenario can have although each of its keys is valid: a file that can't be read, a job that
// the cluster can never run, a network that can't be built. `contend check` looks for all of them, a run for those that
// concern it.

#include "scenarios/scenario.hpp"

#include <string>
#include <vector>

namespace contend {

/// Reads every file that the scenario names and builds its network, but runs nothing. Throws InputError with all
/// complaints; a complaint without a file is about the scenario's file. Returns warnings about what is valid but hardly
/// intended, one line each.
std::vector<std::string> check_scenario(const Scenario& scenario);

}  // namespace contend
