#pragma once
// Provides shorthand for specs, and slow obvious computations on a topology with which tests compare.

#include "network/topologies/topology_spec.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace contend::test {

inline constexpr double kNic = 10;  ///< bytes per second of NICs in tests

inline TopologySpec spec(const std::string& fabric) {
  TopologySpec made;
  made.fabric.kind = fabric;
  made.server.nic_bandwidth = ByteRate{kNic};
  return made;
}
inline TopologySpec leaf_spine(std::size_t servers_per_leaf, std::size_t spines) {
  TopologySpec made = spec("leaf-spine");
  made.fabric.servers_per_leaf = servers_per_leaf;
  made.fabric.spines = spines;
  return made;
}
inline TopologySpec fat_tree(std::size_t ports) {
  TopologySpec made = spec("fat-tree");
  made.fabric.ports = ports;
  return made;
}
inline TopologySpec rails(std::size_t servers_per_leaf, std::size_t spines, std::size_t nics) {
  TopologySpec made = leaf_spine(servers_per_leaf, spines);
  made.fabric.kind = "rail-optimised";
  made.server.kind = "nvswitch";
  made.server.nics = nics;
  return made;
}
inline TopologySpec dragonfly(std::size_t routers, std::size_t servers, std::size_t globals) {
  TopologySpec made = spec("dragonfly");
  made.fabric.routers_per_group = routers;
  made.fabric.servers_per_router = servers;
  made.fabric.global_links = globals;
  return made;
}
inline TopologySpec torus(std::vector<std::size_t> dimensions) {
  TopologySpec made = spec("torus");
  made.fabric.dimensions = std::move(dimensions);
  return made;
}
inline TopologySpec clos(std::size_t servers, std::size_t leaves, std::size_t aggregations, std::size_t cores,
                         std::size_t planes) {
  TopologySpec made = spec("clos");
  made.fabric.servers_per_leaf = servers;
  made.fabric.leaves_per_pod = leaves;
  made.fabric.aggregations_per_pod = aggregations;
  made.fabric.cores = cores;
  made.fabric.planes = planes;
  return made;
}
inline TopologySpec with_server(TopologySpec made, const std::string& kind, std::size_t nics = 1) {
  made.server.kind = kind;
  made.server.nics = nics;
  return made;
}

inline std::size_t count(const Topology& topology, NodeKind kind) {
  return static_cast<std::size_t>(
      std::ranges::count_if(topology.nodes(), [&](const Node& node) { return node.kind == kind; }));
}
/// Number of links with at least one end outside the servers; a cable counts as two.
inline std::size_t fabric_links(const Topology& topology) {
  return static_cast<std::size_t>(std::ranges::count_if(topology.links(), [&](const Link& link) {
    return !topology.nodes()[link.from.index()].server.valid() || !topology.nodes()[link.to.index()].server.valid();
  }));
}

/// The sorted keys of the complaints; empty if the topology builds.
inline std::vector<std::string> complaints(const TopologySpec& made, std::size_t servers, std::size_t gpus = 1) {
  std::vector<std::string> keys;
  try {
    static_cast<void>(build_topology(made, servers, gpus));
  } catch (const InputError& error) {
    for (const Complaint& complaint : error.complaints()) keys.push_back(complaint.key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// Distances in links to a GPU, by node.
struct Distances {
  std::vector<std::size_t> any;   ///< of paths that go up and then down
  std::vector<std::size_t> down;  ///< of paths that go down only; both count without tiers, where nothing is up or down
};

/// 1 if the link leads up to a higher tier, -1 if it leads down (into servers, too), else 0.
inline int slope_of(const Topology& topology, const Link& link) {
  const int below = topology.nodes()[link.from.index()].tier, above = topology.nodes()[link.to.index()].tier;
  return below < above ? 1 : below > above ? -1 : 0;
}

/// By relaxation until nothing changes, with the rules of forwarding written down directly.
inline Distances distances_to(const Topology& topology, NodeId from, NodeId to, const std::vector<bool>& up) {
  constexpr std::size_t kFar = 1'000'000;
  const auto nodes = topology.nodes();
  Distances distance{std::vector<std::size_t>(nodes.size(), kFar), std::vector<std::size_t>(nodes.size(), kFar)};
  distance.any[to.index()] = distance.down[to.index()] = 0;
  const auto may_carry = [&](NodeId node) {
    const Node& it = nodes[node.index()];
    const bool own =
        !it.server.valid() || it.server == nodes[from.index()].server || it.server == nodes[to.index()].server;
    return node == from || node == to || (it.relays && own);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < topology.links().size(); ++i) {
      const Link& link = topology.links()[i];
      if (!up[i] || !may_carry(link.from) || !may_carry(link.to)) continue;
      if (link.to != to && nodes[link.to.index()].kind == NodeKind::gpu && !nodes[link.to.index()].relays) continue;
      const auto shorten = [&](std::size_t& known, std::size_t through) {
        if (through >= known) return;
        known = through;
        changed = true;
      };
      const int slope = slope_of(topology, link);
      shorten(distance.any[link.from.index()], (slope < 0 ? distance.down : distance.any)[link.to.index()] + 1);
      if (slope <= 0) shorten(distance.down[link.from.index()], distance.down[link.to.index()] + 1);
    }
  }
  return distance;
}

}  // namespace contend::test
