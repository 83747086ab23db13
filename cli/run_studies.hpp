#pragma once
// The part of `contend run` for iteration studies.

#include "cli/command.hpp"
#include "scenarios/scenario.hpp"

#include <span>

namespace contend {

/// True if the scenarios are iteration studies. Throws InputError if only some are.
[[nodiscard]] bool is_iteration_study(std::span<const Scenario> scenarios);
/// Runs the studies, prints and writes what the options ask for, and returns an ExitCode.
[[nodiscard]] int run_studies(const Arguments& arguments, std::span<const Scenario> scenarios);

}  // namespace contend
