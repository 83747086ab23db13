#pragma once
// DeAR (Zhang et al., ICDCS 2023) splits each all-reduce into a reduce-scatter during the backward pass and an
// all-gather during the next forward pass, both for groups of neighbouring layers.

#include "models/overlap/iteration.hpp"
#include "models/overlap/problem.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace contend {

/// Layers [first, second] of each group, in forward order. The groups cover all layers that have gradients.
using LayerGroups = std::vector<std::pair<std::size_t, std::size_t>>;

/// Fills groups in forward order. A group ends before the layer that would bring it to `buffer_bytes` or more.
[[nodiscard]] LayerGroups dear_groups(const OverlapProblem& problem, double buffer_bytes);

/// Builds the iteration. The reduce-scatters run in the order in which groups become ready. When all have ended and the
/// backward pass has ended, the all-gather of the first group starts. The all-gather of group g+1 starts when the
/// forward pass of group g begins, which waits for the all-gather of group g. Throws InputError for parameter servers
/// and for compressed gradients.
[[nodiscard]] FusedIteration dear_graph(const OverlapProblem& problem, const LayerGroups& groups);

}  // namespace contend
