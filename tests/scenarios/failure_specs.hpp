#pragma once
// What the engine gets of the failures, loans and checkpoints of a scenario.

#include "scenarios/run/scenario_failures.hpp"
#include "scenarios/scenario.hpp"

#include <cstdint>

namespace contend {

inline FailureSpec spec_of_failures(const Scenario& scenario, std::uint64_t seed) {
  return failure_spec(scenario.cluster, scenario.failures, scenario.loans, seed);
}

inline PreemptionCosts costs_of_checkpoints(const Scenario& scenario, const SavedJob& job) {
  return checkpoint_costs(scenario.cluster, scenario.failures, scenario.checkpoints, job);
}

}  // namespace contend
