#pragma once
// The exchange of the gradients of a pipeline stage as a fusion policy plans it, as operations of the graph of a job
// that trains one model over many GPUs.

#include "models/overlap/iteration.hpp"
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
  std::string stage;                           ///< such as "stage 3"
  std::string rank;                            ///< such as "pipeline rank 1"
  RankGroups groups;                           ///< of the gradients
  int per_server = 1;                          ///< ranks of a group that the plan takes to lie on one server
  std::vector<ChannelId>* channels = nullptr;  ///< channels of the plan, made if there are none yet
};

/// What a plan has become.
struct PlannedExchange {
  std::vector<OpId> ends;  ///< operations that the update waits for
  /// [unit]: the collectives that can begin when the unit's backward pass ends, and not before.
  std::vector<std::vector<OpId>> collectives;
  std::vector<SentMessage> messages;  ///< of the plan
};

/// Adds the operations of `planned`, an iteration with one layer for each unit, whose backward passes are `passes`: its
/// forward and backward tasks are tasks of the job, and all other operations are added.
[[nodiscard]] PlannedExchange add_planned(IterationGraph& graph, const FusedIteration& planned,
                                          const PlannedStage& where, const std::vector<PassOps>& passes);

/// Where collectives take turns: has the collectives of the gradients of experts, by unit, and, if the planned ones
/// leave servers, what the passes send there go one after another with the planned ones, in the order in which they can
/// begin. Returns the planned ones that no other follows.
std::vector<OpId> put_in_turn(IterationGraph& graph, const PlannedExchange& planned, const std::vector<PassOps>& passes,
                              bool leaves_servers, const std::vector<std::vector<OpId>>& experts);

}  // namespace contend
