#pragma once
// What the replicas of a serving job follow from: the time of a step by the operators of a model on a device, and the
// KV cache by the memory that its weights leave.

#include "scenarios/spec/training_system.hpp"

#include <string_view>

namespace contend {

/// The replica of an entry on GPUs of a type of the cluster (or of any, without a name): as the entry says, or, if it
/// has a model, with the steps of that model, and the blocks that its memory holds unless they are given. Throws
/// InputError, with the member, if the model can't be read or divided so, or has no room.
[[nodiscard]] ReplicaSpec replica_of(const TrainingSystem& system, const ServingEntry& entry,
                                     std::string_view gpu_type = {});

/// The time in which new weights come from the trainer to the rollouts of a job on so many GPUs, the first `rollouts`
/// of which answer. The ranks of the first replica take their shards from as many trainers at once, and pass them on to
/// other replicas meanwhile, as in a pipelined ring or tree.
[[nodiscard]] Time weights_time(const TrainingSystem& system, const RlEntry& entry, int rollouts, int gpus);

}  // namespace contend
