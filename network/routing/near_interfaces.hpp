#pragma once
// Says through which network interfaces a GPU leaves its server and is reached.

#include "network/topology.hpp"

#include <span>
#include <vector>

namespace contend {

/// Interfaces by the index of the node of a GPU, in order of id; none for other nodes and for GPUs of servers without
/// an interface on the fabric.
struct NearInterfaces {
  std::vector<std::vector<NodeId>> nearest;  ///< all those at the fewest links from the GPU inside the server
  std::vector<std::vector<NodeId>> own;      ///< the share of the GPU among them
};

/// The nearest interfaces are found as in NCCL (src/graph/topo.cc). GPUs with the same nearest ones divide them: of c
/// GPUs and k interfaces in order of id, GPU i has the interfaces from i k / c up to, but not including, (i + 1) k / c,
/// rounded down, and at least the first of them. So each GPU has an interface of its own where there are as many
/// interfaces as GPUs.
[[nodiscard]] NearInterfaces near_interfaces(const Topology& topology);
/// The near interfaces of the GPUs of these servers, each once; none for other GPUs.
[[nodiscard]] NearInterfaces near_interfaces(const Topology& topology, std::span<const ServerId> servers);

}  // namespace contend
