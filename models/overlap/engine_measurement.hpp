#pragma once
// One job on the engine, all its events one by one: the check on the fast executor, models/overlap/steady_state.hpp,
// which gives the figures of an iteration.

#include "models/overlap/steady_state.hpp"

#include <string>

namespace contend {

/// Executes at least `iterations` (>= 1) of the graph, one rank of each role on a server. Of every role `ranks` (1 or
/// more) are simulated: two stand for any number, because all do the same and `cost` knows how many there are. The mean
/// is over the second half of the iterations; ends and spans as steady_state() gives them.
[[nodiscard]] SteadyState measure_in_engine(const IterationGraph& graph, const ExchangeCost& cost, int ranks,
                                            const SteadyStateOptions& options);

/// What the engine does otherwise than `fast`, the result of steady_state() for this graph and cost: the first
/// iteration that ends at another instant. Empty if none does.
[[nodiscard]] std::string engine_difference(const IterationGraph& graph, const ExchangeCost& cost, int ranks,
                                            const SteadyState& fast);

}  // namespace contend
