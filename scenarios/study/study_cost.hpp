#pragma once
// What the messages of a study of one iteration cost, by the network of a training system.

#include "models/layers.hpp"
#include "models/overlap/problem.hpp"
#include "scenarios/spec/training_system.hpp"

namespace contend {

/// Throws InputError, e.g. for a network that no closed form describes. `peers` says who swaps with whom where links
/// differ (network.sites).
[[nodiscard]] ExchangeCost study_cost(const TrainingSystem& system, int workers, const PeerRule& peers = {});

/// The model on so many workers, with these costs and without compression.
[[nodiscard]] OverlapProblem study_problem(const TrainingSystem& system, const TimedModel& model, int workers);

}  // namespace contend
