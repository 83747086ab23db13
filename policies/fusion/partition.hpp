#pragma once
// Gradients cut into pieces that enter the network by priority: the layer that the next forward pass needs first. That
// forward waits for each layer's own pieces only.

#include "models/overlap/iteration.hpp"
#include "models/overlap/problem.hpp"

#include <cstdint>

namespace contend {

/// Pieces of at most `piece` elements (>= 1); the channel commits them until `credit` (>= 1) elements are on their way.
[[nodiscard]] FusedIteration partitioned_graph(const OverlapProblem& problem, std::int64_t piece, std::int64_t credit);

}  // namespace contend
