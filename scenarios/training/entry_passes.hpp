#pragma once
// The passes that a training entry asks for.

#include "models/layers.hpp"
#include "models/overlap/iteration.hpp"
#include "models/parallel/training_iteration.hpp"
#include "models/passes/pass.hpp"
#include "scenarios/spec/training_entry.hpp"

#include <optional>
#include <vector>

namespace contend {

/// Over the layers of a network that each worker holds whole, `model`, before messages are planned: the update of the
/// weights, micro-batches before the last, parts of other workers, and the wait for data. Throws InputError with the
/// key of a member if the global batch doesn't divide among so many workers.
[[nodiscard]] std::vector<Pass<TimedModel>> layer_passes(const TrainingEntry& entry, const TimedModel& model,
                                                         int workers);
/// Over the graph of such a job: its workers load the samples of an iteration beside the one before; nothing if the
/// entry has no `data`.
[[nodiscard]] std::optional<Pass<FusedIteration>> layer_loads(const TrainingEntry& entry, int workers);
/// Over the graph of such a job, whose messages have been planned for so many layers; with `joins` consecutive layers
/// become one task where they can.
[[nodiscard]] std::vector<Pass<FusedIteration>> worker_passes(const TrainingEntry& entry, int workers,
                                                              std::size_t layers, bool joins);
/// Over the graph of a job that spreads its model over GPUs, behind the passes that make an iteration
/// (training_passes()) and in front of the launches of hosts.
[[nodiscard]] std::vector<Pass<FusedIteration>> spread_passes(const TrainingEntry& entry, const TrainingIteration& job);

/// The graph of a job that spreads its model over GPUs, with all passes of its entry.
[[nodiscard]] IterationGraph spread_graph(const TrainingEntry& entry, const TrainingIteration& job,
                                          std::vector<PassRecord>& records);

}  // namespace contend
