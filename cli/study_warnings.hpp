#pragma once
// Says on stderr why the figures of iteration studies may mislead, each reason once with the names of all scenarios
// that it concerns.

#include "scenarios/scenario.hpp"
#include "scenarios/study/study_run.hpp"

#include <span>
#include <vector>

namespace contend {

/// The reasons that are known before anything runs. Throws InputError, e.g. for layers that can't be read.
void warn_of_studies(std::span<const Scenario> scenarios);
/// Messages of sizes that nobody measured; their sizes are known only after the policies have planned.
void warn_of_sizes(std::span<const Scenario> scenarios, std::span<const std::vector<StudyMessages>> messages);

}  // namespace contend
