#pragma once
// A partitioned iteration cuts gradients into pieces. The pieces of the layer that the next forward pass needs first
// have priority. The forward pass of a layer waits only for the pieces of that layer.

#include "models/overlap/iteration.hpp"
#include "models/overlap/problem.hpp"
#include "policies/fusion/merging.hpp"

#include <cstdint>

namespace contend {

/// Builds the iteration with pieces of at most `piece` elements (>= 1). The channel accepts pieces until `credit` (>=
/// 1) elements are on their way. Throws InputError if there are more than a million pieces or gradients are compressed.
[[nodiscard]] FusedIteration partitioned_graph(const OverlapProblem& problem, std::int64_t piece, std::int64_t credit);
/// The same for groups of gradients, each of which is cut into pieces of at most `most` bytes (>= 1) once all of it is
/// ready. The channel accepts pieces until `credit` (>= 1) bytes are on their way. The forward pass waits at the lowest
/// layer of a group for all pieces of the group.
[[nodiscard]] FusedIteration partitioned_graph(const OverlapProblem& problem, const MergePlan& plan, Bytes most,
                                               Bytes credit);

}  // namespace contend
