#pragma once
// Passes over the graph of a job that spreads its model over GPUs, which need to know what of the model an operation
// computes: what moves between GPUs and hosts, and the update of the weights.

#include "models/parallel/spread_iteration.hpp"
#include "models/parallel/training_iteration.hpp"
#include "models/passes/pass.hpp"
#include "sim/graph.hpp"

#include <vector>

namespace contend {

/// True if something of the job lies outside of its GPUs.
[[nodiscard]] bool moves_to_hosts(const TrainingIteration& job);

/// The pass `offload`: copies between each GPU and its host, or NVMe, as timers in two queues for each rank. A unit's
/// activations leave while later ones compute, two of which have theirs on the GPU, and come back one unit ahead.
/// Weights are read one unit before they are gathered. Sums of gradients leave when they are there.
void add_offload(SpreadIteration& iteration, const TrainingIteration& job);

/// The pass `update`. All updates of an iteration wait for the gradients of their rank and, with a barrier, for those
/// of all ranks. Where two pipeline ranks have a stage (DualPipe) or the embedding of a tied head, each sends its
/// gradients of that to the other, once both have reduced theirs, and the updates wait for them. A rank updates all its
/// weights at once behind its last pass, and gathers those that others have updated. Where a planned exchange goes on
/// beside the next forward pass, its content decides. Where ranks share out the updates, it carries updated
/// weights, so it goes on behind the update. Where each rank has a whole copy, it carries gradients, so the weights of
/// a unit are updated when they have come, before the unit's first forward pass of the next iteration. Throws
/// InputError if a host would have to do such updates.
void add_updates(SpreadIteration& iteration, const TrainingIteration& job);

/// The passes that make a whole iteration of the source, spread_source(): `offload`, if it moves anything, and
/// `update`.
[[nodiscard]] std::vector<Pass<SpreadIteration>> training_passes(const TrainingIteration& job);
/// The graph with all of them.
[[nodiscard]] IterationGraph training_graph(const TrainingIteration& job);

}  // namespace contend
