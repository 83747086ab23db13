#pragma once
// One job on the engine, all its events one by one: where the figures of an iteration come from, and what
// models/overlap/steady_state.hpp is held to.

#include "models/overlap/steady_state.hpp"

namespace contend {

/// Executes at least `iterations` (>= 1) of the graph, one rank of each role on a server. Of every role `ranks` (1 or
/// more) are simulated: two stand for any number, because all do the same and `cost` knows how many there are. The mean
/// is over the second half of the iterations; ends and spans as steady_state() gives them.
[[nodiscard]] SteadyState measure_in_engine(const IterationGraph& graph, const ExchangeCost& cost, int ranks,
                                            const SteadyStateOptions& options);

}  // namespace contend
