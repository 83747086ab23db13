#pragma once
// Says through which network interfaces a GPU leaves its server and is reached.

#include "network/topology.hpp"

#include <vector>

namespace contend {

/// The interfaces of each GPU, in order of id, by the index of its node; empty for other nodes and for GPUs of servers
/// without an interface on the fabric.
///
/// The candidates of a GPU are the interfaces at the fewest links from it inside the server, as NCCL takes the nearest
/// ones (src/graph/topo.cc). GPUs with the same candidates divide them: of c GPUs and k interfaces in order of id, GPU
/// i has the interfaces from i k / c up to, but not including, (i + 1) k / c, rounded down, and at least the first of
/// them. So each GPU has an interface of its own where there are as many interfaces as GPUs.
[[nodiscard]] std::vector<std::vector<NodeId>> near_interfaces(const Topology& topology);

}  // namespace contend
