#include "network/routing/near_interfaces.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

namespace contend {

namespace {

/// Finds nearest interfaces by a search inside the server.
class Search {
 public:
  explicit Search(const Topology& topology) : topology_{topology}, attached_(topology.nodes().size(), 0) {
    for (const Link& link : topology.links()) {
      const Node& from = topology.nodes()[link.from.index()];
      const bool leaves = topology.nodes()[link.to.index()].server != from.server;
      if (from.kind == NodeKind::nic && leaves) attached_[link.from.index()] = 1;
    }
  }

  /// The interfaces on the fabric at the fewest links from the GPU, in order of id.
  std::vector<NodeId> nearest(NodeId gpu) {
    const auto nodes = topology_.nodes();
    std::vector<NodeId> found;
    std::vector<NodeId> ring{gpu};
    seen_.assign(1, gpu);
    while (found.empty() && !ring.empty()) {
      std::vector<NodeId> wider;
      for (const NodeId at : ring) {
        if (at != gpu && !nodes[at.index()].relays) continue;
        for (const LinkId link : topology_.out(at)) {
          const NodeId to = topology_.links()[link.index()].to;
          if (nodes[to.index()].server != nodes[gpu.index()].server) continue;
          if (std::find(seen_.begin(), seen_.end(), to) != seen_.end()) continue;
          seen_.push_back(to);
          wider.push_back(to);
          if (attached_[to.index()] != 0) found.push_back(to);
        }
      }
      ring = std::move(wider);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  const Topology& topology_;
  std::vector<std::uint8_t> attached_;  // by node: an interface with a link out of its server
  std::vector<NodeId> seen_;
};

}  // namespace

NearInterfaces near_interfaces(const Topology& topology) {
  std::vector<ServerId> servers;
  for (std::size_t server = 0; server < topology.servers(); ++server) servers.emplace_back(server);
  return near_interfaces(topology, servers);
}

NearInterfaces near_interfaces(const Topology& topology, std::span<const ServerId> servers) {
  NearInterfaces near;
  near.nearest.resize(topology.nodes().size());
  near.own.resize(topology.nodes().size());
  Search search{topology};
  for (const ServerId server : servers) {
    std::map<std::vector<NodeId>, std::vector<NodeId>> sharers;  // GPUs by their nearest interfaces
    for (const NodeId gpu : topology.gpus_of(server)) {
      near.nearest[gpu.index()] = search.nearest(gpu);
      sharers[near.nearest[gpu.index()]].push_back(gpu);
    }
    for (const auto& [nics, gpus] : sharers) {
      for (std::size_t i = 0; i < gpus.size() && !nics.empty(); ++i) {
        const std::size_t first = i * nics.size() / gpus.size();
        const std::size_t end = std::max((i + 1) * nics.size() / gpus.size(), first + 1);
        near.own[gpus[i].index()].assign(nics.begin() + static_cast<std::ptrdiff_t>(first),
                                         nics.begin() + static_cast<std::ptrdiff_t>(end));
      }
    }
  }
  return near;
}

}  // namespace contend
