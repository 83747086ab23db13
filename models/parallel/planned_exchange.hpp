#pragma once
// The exchange of the gradients of a pipeline stage as a fusion policy plans it, as operations of the graph of a job
// that trains one model over many GPUs.

#include "sim/graph.hpp"

#include <string>
#include <vector>

namespace contend {

/// The first and the last operation of a pass, and the timer beside its begin that lasts as long as it sends between
/// servers; none: it has none.
struct PassOps {
  OpId first, last, turn{};
};

/// Where a plan is executed.
struct PlannedStage {
  RoleId role;
  std::string stage;   ///< such as "stage 3"
  std::string rank;    ///< such as "pipeline rank 1"
  RankGroups groups;   ///< of the gradients
  int per_server = 1;  ///< ranks of a group that the plan takes to lie on one server
};

/// What a plan has become.
struct PlannedExchange {
  std::vector<OpId> ends;  ///< operations that the update waits for
  /// [unit]: the collectives that can begin when the unit's backward pass ends, and not before.
  std::vector<std::vector<OpId>> collectives;
};

/// Adds the operations of `plan`, the graph of an iteration with one layer for each unit (FusedIteration), whose
/// backward passes are `passes`: its forward and backward tasks are those of the job, and all else is added.
[[nodiscard]] PlannedExchange add_planned(IterationGraph& graph, const IterationGraph& plan, const PlannedStage& where,
                                          const std::vector<PassOps>& passes);

}  // namespace contend
