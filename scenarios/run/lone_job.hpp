#pragma once
// What one iteration of a job takes that has the cluster to itself.

#include "scenarios/scenario.hpp"
#include "sim/graph.hpp"
#include "sim/units.hpp"

#include <string>

namespace contend {

/// The time of an iteration of a job of that model, a training entry or profile, on the first GPUs of the cluster, once
/// it has settled: without failures, checkpoints, loans, other owners and rules of scheduling, whatever the scenario
/// has of them. Throws InputError if there are not so many GPUs, and as TrainingGraphs does.
[[nodiscard]] Time lone_iteration(const Scenario& scenario, const std::string& model, int gpus);
/// The same of a job of that model with another graph, of as many ranks.
[[nodiscard]] Time lone_iteration(const Scenario& scenario, const std::string& model, int gpus,
                                  const IterationGraph& graph);

}  // namespace contend
