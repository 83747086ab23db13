#pragma once
// A pipeline plan as an iteration graph, for the engine: a role for each rank of the pipeline, one compute operation
// for each step, and a message wherever a micro-batch or its gradient goes from one rank to another. A network in which
// every message takes the latency of evaluate() gives the times of evaluate().

#include "models/parallel/pipeline_plan.hpp"
#include "sim/graph.hpp"

#include <vector>

namespace contend {

/// Sizes of messages by the stage that they leave (forward) or enter (backward): between it and the next one.
struct PipelineMessages {
  std::vector<Bytes> forward;   ///< [stage], stages-1 of them: activations
  std::vector<Bytes> backward;  ///< [stage], stages-1 of them: gradients of activations
};

struct PipelineGraph {
  IterationGraph graph;
  std::vector<RoleId> roles;             ///< [rank of the pipeline]
  std::vector<std::vector<OpId>> steps;  ///< [rank][step]
};

/// Builds the graph of a valid plan. Each role has `ranks_per_stage` ranks (tensor-, data- and context-parallel ones),
/// of which rank i sends to rank i. A step depends on the one before it on its rank, and the first one on the last one
/// of the iteration before; whatever else an iteration waits for is for the caller to add. Operations are named as
/// step_name() says, messages as the pass that they follow, `F3.0 from stage 2 to 3`. Throws InputError as evaluate()
/// does for costs, and if messages don't have an entry for each boundary.
[[nodiscard]] PipelineGraph pipeline_graph(const PipelinePlan& plan, const PipelineCosts& costs,
                                           const PipelineMessages& messages, int ranks_per_stage);

}  // namespace contend
