#include "network/idle_interfaces.hpp"

#include "network/routing/near_interfaces.hpp"

#include <cstddef>
#include <cstdint>

namespace contend {

std::vector<NodeId> idle_interfaces(const Topology& topology, std::span<const LinkId> used) {
  const auto nodes = topology.nodes();
  const auto is_cable = [&](const Link& link) {
    return nodes[link.from.index()].server != nodes[link.to.index()].server;
  };
  std::vector<std::uint8_t> has_cable(nodes.size(), 0);
  for (const Link& link : topology.links()) {
    if (is_cable(link)) has_cable[link.from.index()] = has_cable[link.to.index()] = 1;
  }
  std::vector<std::uint8_t> busy(nodes.size(), 0);
  std::vector<std::uint8_t> is_crossed(topology.servers(), 0);
  for (const LinkId id : used) {
    const Link& link = topology.links()[id.index()];
    for (const NodeId end : {link.from, link.to}) {
      const Node& node = nodes[end.index()];
      if (node.kind == NodeKind::gpu || (node.kind == NodeKind::nic && is_cable(link))) busy[end.index()] = 1;
      if (node.kind == NodeKind::nic && is_cable(link)) is_crossed[node.server.index()] = 1;
    }
  }
  enum Owner : std::uint8_t { nobody, idle_gpu, busy_gpu };
  std::vector<Owner> owner(nodes.size(), nobody);
  const NearInterfaces near = near_interfaces(topology);
  for (const NodeId gpu : topology.gpus()) {
    for (const NodeId nic : near.own[gpu.index()]) {
      if (owner[nic.index()] != busy_gpu) owner[nic.index()] = busy[gpu.index()] != 0 ? busy_gpu : idle_gpu;
    }
  }
  std::vector<NodeId> idle;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool could_help = nodes[i].kind == NodeKind::nic && has_cable[i] != 0 && owner[i] != idle_gpu;
    if (could_help && busy[i] == 0 && is_crossed[nodes[i].server.index()] != 0) idle.push_back(NodeId{i});
  }
  return idle;
}

}  // namespace contend
