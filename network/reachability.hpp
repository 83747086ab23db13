#pragma once
// Finds pairs of GPUs that can't send to each other under the forwarding rules of network/topology.hpp.

#include "network/topology.hpp"

#include <utility>
#include <vector>

namespace contend {

/// Pairs (from, to) of different GPUs without a path, at most `limit` of them, in order of GpuId. The links must be
/// indexed. The time is linear in the size of the topology if a switch joins all GPUs; otherwise it takes a search from
/// each GPU.
[[nodiscard]] std::vector<std::pair<NodeId, NodeId>> gpus_without_path(const Topology& topology, std::size_t limit);

}  // namespace contend
