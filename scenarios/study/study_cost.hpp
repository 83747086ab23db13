#pragma once
// What the messages of a study of one iteration cost, by what the scenario says about its network.

#include "models/layers.hpp"
#include "models/overlap/problem.hpp"
#include "scenarios/scenario.hpp"

namespace contend {

/// Throws InputError, e.g. for a network that no closed form describes. `peers` says who swaps with whom where links
/// differ (network.sites).
[[nodiscard]] ExchangeCost study_cost(const Scenario& scenario, int workers, const PeerRule& peers = {});

/// The model on so many workers, with these costs and without compression.
[[nodiscard]] OverlapProblem study_problem(const Scenario& scenario, const TimedModel& model, int workers);

}  // namespace contend
