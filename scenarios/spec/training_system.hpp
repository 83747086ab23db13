#pragma once
// The part of a scenario that says what jobs train or serve, and on what.

#include "scenarios/spec/cluster_setup.hpp"
#include "scenarios/spec/federated_entry.hpp"
#include "scenarios/spec/iteration_study.hpp"
#include "scenarios/spec/network_setup.hpp"
#include "scenarios/spec/policy_choice.hpp"
#include "scenarios/spec/power_row_entry.hpp"
#include "scenarios/spec/rl_entry.hpp"
#include "scenarios/spec/serving_entry.hpp"
#include "scenarios/spec/training_entry.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// Servers, their network, and what jobs train on them: all that the graph of an iteration follows from, and the time
/// that an iteration takes when its job is alone.
struct TrainingSystem {
  std::uint64_t seed = 1;  ///< of the first replica
  ClusterSetup cluster;
  NetworkSetup network;
  PolicyChoice communication;
  std::vector<TrainingEntry> training;    ///< by name
  std::vector<ServingEntry> serving;      ///< by name
  std::vector<RlEntry> rl;                ///< by name
  std::vector<FederatedEntry> federated;  ///< by name
  std::vector<PowerRowEntry> power_rows;  ///< by name
  IterationStudy overlap;
  /// Rounds (PipelineSchedule::round) that graphs of pipelines have beside the first and last passes, if iterations
  /// have many more: those in the middle are left out, and a run leaps over them or throws UnleaptRounds. 0: all.
  int rounds_kept = 0;
};

}  // namespace contend
