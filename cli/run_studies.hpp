#pragma once
// The part of `contend run` for studies of one iteration.

#include "cli/command.hpp"
#include "scenarios/scenario.hpp"

#include <span>

namespace contend {

/// Whether these are such studies. Throws InputError if only some are.
[[nodiscard]] bool is_iteration_study(std::span<const Scenario> scenarios);
/// Prints and writes what the options ask for; returns an ExitCode.
[[nodiscard]] int run_studies(const Arguments& arguments, std::span<const Scenario> scenarios);

}  // namespace contend
