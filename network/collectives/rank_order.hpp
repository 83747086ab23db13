#pragma once
// Orders the GPUs of a job in its rings and trees. A ring crosses each boundary of the fabric as often as its order
// jumps over it: between two servers of 8 GPUs it can send one message over each NIC, or eight.

#include "network/topology.hpp"

#include <span>
#include <vector>

namespace contend {

/// The GPUs in an order that keeps groups together: the GPUs of one server, the servers that share a switch, the groups
/// of those that share a switch above it, and so on. A ring in this order enters and leaves each group once, the least
/// possible. The order of ids breaks ties. Inside a server of up to 8 GPUs with direct cables (NVLink without a
/// switch), the order makes the narrowest cable of the ring as wide as possible, by trying all orders; otherwise the
/// GPUs stay in order of id.
///
/// Servers are grouped by their distance in hops: after step k, all servers with a common switch at most k hops from
/// each are in one group. On fabrics without tiers (dragonfly, torus) the first step that joins servers of different
/// switches may join all of them; then the order of ids decides.
[[nodiscard]] std::vector<NodeId> topological_order(std::span<const NodeId> gpus, const Topology& topology);

/// The sizes of the levels from the inside: {GPUs per server, servers} if all servers have equally many GPUs and the
/// order keeps them together; otherwise one level, the number of GPUs.
[[nodiscard]] std::vector<int> level_sizes(std::span<const NodeId> order, const Topology& topology);

}  // namespace contend
