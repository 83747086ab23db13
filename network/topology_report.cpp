#include "network/topology_report.hpp"

#include "network/routing/shortest_paths.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/core.h>

namespace contend {

namespace {

/// What a link inside a server is, by the devices that it joins: `network/topologies/servers.cpp` names them.
LinkPlace place_inside(const Node& a, const Node& b) {
  const auto named = [](const Node& node, std::string_view word) {
    return node.kind == NodeKind::bridge && node.name.find(word) != std::string::npos;
  };
  if (a.kind == NodeKind::gpu && b.kind == NodeKind::gpu) return LinkPlace::gpu_link;
  if (named(a, "/nvswitch") || named(b, "/nvswitch")) return LinkPlace::gpu_link;
  return named(a, "/socket") && named(b, "/socket") ? LinkPlace::between_sockets : LinkPlace::pcie;
}

LinkPlace place_of(const Topology& topology, const Link& link) {
  const ServerId a = topology.nodes()[link.from.index()].server;
  const ServerId b = topology.nodes()[link.to.index()].server;
  if (!a.valid() && !b.valid()) return LinkPlace::between_switches;
  if (a.valid() && b.valid())
    return a == b ? place_inside(topology.nodes()[link.from.index()], topology.nodes()[link.to.index()])
                  : LinkPlace::between_servers;
  return LinkPlace::server_to_fabric;
}

std::vector<CableCount> count_cables(const Topology& topology) {
  struct Directions {
    std::size_t up = 0;
    std::size_t down = 0;
  };
  std::map<std::tuple<LinkPlace, ByteRate, NodeId, NodeId>, Directions> pairs;
  for (const Link& link : topology.links()) {
    Directions& pair =
        pairs[{place_of(topology, link), link.bandwidth, std::min(link.from, link.to), std::max(link.from, link.to)}];
    ++(link.from < link.to ? pair.up : pair.down);
  }
  std::vector<CableCount> counts;
  for (const auto& [key, pair] : pairs) {
    const auto& [place, bandwidth, a, b] = key;
    if (counts.empty() || counts.back().place != place || counts.back().bandwidth != bandwidth) {
      counts.push_back({place, bandwidth, 0, 0});
    }
    const std::size_t cables = std::min(pair.up, pair.down);
    counts.back().cables += cables;
    counts.back().one_way += pair.up + pair.down - 2 * cables;
  }
  return counts;
}

std::uint32_t diameter(const Topology& topology) {
  ShortestPaths paths{topology};
  std::uint32_t longest = 0;
  const auto look = [&](NodeId from, NodeId to) {
    if (paths.aim(from, to)) longest = std::max(longest, paths.hops());
  };
  // Of all GPUs with the same contact to the fabric, two of different servers are enough: they are equally far from all
  // GPUs outside their servers.
  std::map<std::vector<std::uint32_t>, std::vector<NodeId>> alike;
  const auto server_of = [&](NodeId gpu) { return topology.nodes()[gpu.index()].server; };
  for (std::size_t server = 0; server < topology.servers(); ++server) {
    const auto gpus = topology.gpus_of(ServerId{server});
    for (const NodeId gpu : gpus) {
      for (const NodeId other : gpus) {
        if (gpu != other) look(gpu, other);
      }
      auto& members = alike[paths.contact(gpu)];
      if (members.empty() || (members.size() == 1 && server_of(members[0]) != server_of(gpu))) members.push_back(gpu);
    }
  }
  std::vector<NodeId> samples;
  for (const auto& [contact, members] : alike) samples.insert(samples.end(), members.begin(), members.end());
  for (const NodeId from : samples) {
    for (const NodeId to : samples) {
      if (server_of(from) != server_of(to)) look(from, to);
    }
  }
  return longest;
}

std::vector<TierReport> report_tiers(const Topology& topology) {
  const std::vector<std::size_t> tier_of = tiers_of(topology);
  const auto nodes = topology.nodes();
  std::vector<double> below(nodes.size(), 0);
  std::vector<double> above(nodes.size(), 0);
  std::vector<double> beside(nodes.size(), 0);
  for (const Link& link : topology.links()) {
    const std::size_t from = tier_of[link.from.index()];
    const std::size_t to = tier_of[link.to.index()];
    const double bandwidth = link.bandwidth.bytes_per_second();
    if (to == from + 1) below[link.to.index()] += bandwidth;
    if (to == from + 1 && from > 0) above[link.from.index()] += bandwidth;
    if (to == from && from > 0) beside[link.from.index()] += bandwidth;
  }
  std::map<std::size_t, TierReport> tiers;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (tier_of[i] == 0) continue;
    TierReport& tier = tiers[tier_of[i]];
    tier.tier = tier_of[i];
    ++tier.switches;
    tier.from_below = ByteRate{tier.from_below.bytes_per_second() + below[i]};
    tier.upwards = ByteRate{tier.upwards.bytes_per_second() + above[i]};
    tier.sideways = ByteRate{tier.sideways.bytes_per_second() + beside[i]};
    if (above[i] > 0) tier.oversubscription = std::max(tier.oversubscription, below[i] / above[i]);
  }
  std::vector<TierReport> all;
  for (const auto& [number, tier] : tiers) all.push_back(tier);
  return all;
}

}  // namespace

std::string_view name_of(LinkPlace place) {
  switch (place) {
    case LinkPlace::gpu_link:
      return "NVLink or xGMI";
    case LinkPlace::between_sockets:
      return "between sockets";
    case LinkPlace::pcie:
      return "PCIe";
    case LinkPlace::server_to_fabric:
      return "NIC to fabric";
    case LinkPlace::between_switches:
      return "between switches";
    case LinkPlace::between_servers:
      return "between servers";
  }
  return {};
}

std::vector<std::size_t> tiers_of(const Topology& topology) {
  const auto nodes = topology.nodes();
  std::vector<std::size_t> tier(nodes.size(), 0);
  std::vector<NodeId> queue;
  const auto visit = [&](NodeId from, NodeId to) {
    if (nodes[to.index()].server.valid() || tier[to.index()] != 0) return;
    tier[to.index()] = tier[from.index()] + 1;
    queue.push_back(to);
  };
  for (const Link& link : topology.links()) {
    if (nodes[link.from.index()].server.valid()) visit(link.from, link.to);
  }
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (const LinkId link : topology.out(queue[head])) visit(queue[head], topology.links()[link.index()].to);
  }
  return tier;
}

TopologyReport report_topology(const Topology& topology) {
  TopologyReport report;
  report.servers = topology.servers();
  report.gpus = topology.gpus().size();
  for (const Node& node : topology.nodes()) {
    if (node.kind == NodeKind::nic) ++report.nics;
    if (node.kind == NodeKind::bridge) ++report.bridges;
    if (node.kind == NodeKind::fabric_switch) ++report.switches;
  }
  report.cables = count_cables(topology);
  report.diameter = diameter(topology);
  report.bisection = bisection(topology);
  report.tiers = report_tiers(topology);
  return report;
}

std::string format_rate(ByteRate rate) {
  const double value = rate.bytes_per_second();
  for (const auto& [unit, name] : {std::pair{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}}) {
    if (value >= unit) return fmt::format("{:.4g} {}", value / unit, name);
  }
  return fmt::format("{:.4g} B/s", value);
}

}  // namespace contend
