#pragma once
// Values of `overlap.*` that are sound one by one and contradict each other.

#include "scenarios/scenario.hpp"
#include "sim/error.hpp"

#include <vector>

namespace contend {

/// What a study of one iteration can't be run for, before any file of layer times is read; keys are those of scenarios.
/// Empty for a scenario without such a study.
[[nodiscard]] std::vector<Complaint> study_complaints(const Scenario& scenario);

}  // namespace contend
