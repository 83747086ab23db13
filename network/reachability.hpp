#pragma once
// Whether every GPU can send to every other one, under the rules of forwarding of network/topology.hpp.

#include "network/topology.hpp"

#include <utility>
#include <vector>

namespace contend {

/// Pairs (from, to) of different GPUs without a path, at most `limit` of them, in order of GpuId. The links must be
/// indexed. Linear in the size of the topology if a switch joins everybody, else one search per GPU.
[[nodiscard]] std::vector<std::pair<NodeId, NodeId>> gpus_without_path(const Topology& topology, std::size_t limit);

}  // namespace contend
