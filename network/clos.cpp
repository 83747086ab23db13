#include "network/clos.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace contend {

std::optional<ClosFabric> clos_of(const Topology& topology) {
  const auto nodes = topology.nodes();
  const auto is_switch = [&](NodeId node) { return nodes[node.index()].kind == NodeKind::fabric_switch; };
  ClosFabric fabric;
  fabric.leaf.assign(topology.servers(), UINT32_MAX);
  std::vector<NodeId> leaf_of(topology.servers());
  std::vector<double> rate(topology.servers(), 0);
  for (const Link& link : topology.links()) {
    if (is_switch(link.from) || !is_switch(link.to)) continue;
    const ServerId server = nodes[link.from.index()].server;
    if (!server.valid()) return std::nullopt;
    if (std::exchange(leaf_of[server.index()], link.to) != link.to && rate[server.index()] > 0) return std::nullopt;
    rate[server.index()] += link.bandwidth.bytes_per_second();
  }
  std::map<NodeId, std::uint32_t> number;
  for (std::size_t s = 0; s < leaf_of.size(); ++s) {
    if (!leaf_of[s].valid()) return std::nullopt;  // it is joined to nothing
    fabric.leaf[s] = number.try_emplace(leaf_of[s], static_cast<std::uint32_t>(number.size())).first->second;
    fabric.server_rate = std::max(fabric.server_rate, rate[s]);
  }
  fabric.leaves = static_cast<std::uint32_t>(number.size());
  std::map<std::pair<NodeId, NodeId>, double> up;  // by leaf and spine
  for (const Link& link : topology.links()) {
    if (!is_switch(link.from) || !is_switch(link.to)) continue;
    const bool from_leaf = number.contains(link.from), to_leaf = number.contains(link.to);
    if (from_leaf == to_leaf) return std::nullopt;  // two leaves, or a third tier
    if (from_leaf) up[{link.from, link.to}] += link.bandwidth.bytes_per_second();
  }
  for (const auto& [ends, bandwidth] : up) {
    fabric.spines.push_back(ends.second);
    fabric.uplink_rate = fabric.uplink_rate > 0 ? std::min(fabric.uplink_rate, bandwidth) : bandwidth;
  }
  std::sort(fabric.spines.begin(), fabric.spines.end());
  fabric.spines.erase(std::unique(fabric.spines.begin(), fabric.spines.end()), fabric.spines.end());
  if (fabric.spines.empty() || up.size() != fabric.spines.size() * fabric.leaves) return std::nullopt;
  return fabric;
}

}  // namespace contend
