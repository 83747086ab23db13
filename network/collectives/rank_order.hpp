#pragma once
// In which order the GPUs of a job stand in its rings and trees. A ring crosses each boundary of the fabric as often as
// its order jumps over it: two servers of 8 GPUs can have one message on each NIC, or eight.

#include "network/topology.hpp"

#include <span>
#include <vector>

namespace contend {

/// The GPUs so that those of one server stand together, servers that share a switch stand together, groups of those
/// that share a switch above it stand together, and so on: a ring in this order enters and leaves each group once, the
/// least that is possible. Between equals the order of ids decides. Inside a server whose GPUs have direct cables
/// (NVLink without a switch) neighbours are chosen so that the narrowest cable of their ring is as wide as possible, by
/// trying all orders, for up to 8 GPUs; otherwise they stay in order of id.
///
/// Nearness of servers is their distance in hops, joined step by step: after step k all servers that have a switch in
/// common at most k hops from each are one group. On fabrics without tiers (dragonfly, torus) the first step that joins
/// anything beyond the switch may join everything, and the order of ids is what is left.
[[nodiscard]] std::vector<NodeId> topological_order(std::span<const NodeId> gpus, const Topology& topology);

/// GPUs of each server and number of servers, from the inside, where all servers of the order have equally many and
/// stand together; otherwise the number of GPUs alone, one level.
[[nodiscard]] std::vector<int> level_sizes(std::span<const NodeId> order, const Topology& topology);

}  // namespace contend
