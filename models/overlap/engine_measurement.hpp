#pragma once
// Measures the iteration of one job by executing all its events on the engine. Iteration studies report these figures;
// tests compare models/overlap/steady_state.hpp with them.

#include "models/overlap/steady_state.hpp"

#include <string>

namespace contend {

/// Executes at least `options.iterations` (>= 1) iterations of the graph, with one rank of each role on a server. Of
/// every role, `ranks` >= 1 are simulated: two represent any number, because all do the same and `cost` contains the
/// true number. The mean is over the second half of the iterations; ends and spans are as in steady_state().
[[nodiscard]] SteadyState measure_in_engine(const IterationGraph& graph, const ExchangeCost& cost, int ranks,
                                            const SteadyStateOptions& options);

/// What the engine does otherwise than `fast`, the result of steady_state() for this graph and cost: the first
/// iteration that ends at another instant. Empty if none does.
[[nodiscard]] std::string engine_difference(const IterationGraph& graph, const ExchangeCost& cost, int ranks,
                                            const SteadyState& fast);

}  // namespace contend
