#pragma once
// DeAR (Zhang et al., ICDCS 2023): an all-reduce as a reduce-scatter during the backward pass and an all-gather during
// the next forward pass, merged into groups of neighbouring layers.

#include "models/overlap/iteration.hpp"
#include "models/overlap/problem.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace contend {

/// Layers [first, second] of each group, in forward order, without gaps but for layers that have no gradients.
using LayerGroups = std::vector<std::pair<std::size_t, std::size_t>>;

/// Filled in forward order; a group is closed before the layer that would take it to `buffer` bytes or more.
[[nodiscard]] LayerGroups dear_groups(const OverlapProblem& problem, double buffer_bytes);

/// Reduce-scatters in the order in which groups become ready. When all are done and the backward pass has ended, the
/// all-gather of the first group starts; that of group g+1 is launched when the forward of group g begins, which waits
/// for its own. Throws InputError unless gradients are all-reduced.
[[nodiscard]] FusedIteration dear_graph(const OverlapProblem& problem, const LayerGroups& groups);

}  // namespace contend
