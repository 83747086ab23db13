#pragma once
// The exchange of gradients that a fusion policy plans for the stages of a model that is spread over GPUs.

#include "models/parallel/training_iteration.hpp"
#include "scenarios/spec/training_system.hpp"

namespace contend {

/// Lets the fusion policy of the entry plan the exchange of dense gradients of each stage (TrainingIteration::planned),
/// if the entry says how gradients are fused or compressed. Throws InputError for a policy or method that the stages
/// can't have, with the reason.
void plan_exchange(const TrainingSystem& system, const TrainingEntry& entry, TrainingIteration& job);
/// Throws InputError if the schedule runs passes as one that have to be apart: their weights, activations or exchanges
/// would be needed at once.
void check_merges(const TrainingEntry& entry, const PipelinePlan& plan);

}  // namespace contend
