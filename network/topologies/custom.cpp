// Builds topologies from graphs listed node by node: whole topologies, and fabrics around servers of any kind.

#include "network/topologies/assembly.hpp"

#include <map>
#include <set>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::size_t kMostParallel = 4096;

/// Adds the complaints about links that do not depend on the nodes. Keys start with `prefix`.
void check_link_rows(const GraphSpec& graph, const std::string& prefix, Complaints& complaints) {
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const GraphLink& link = graph.links[i];
    const std::string key = fmt::format("{}links[{}]", prefix, i);
    const std::string name = fmt::format("{} -> {}", link.from, link.to);
    if (link.bandwidth && !(link.bandwidth->bytes_per_second() > 0)) {
      complaints.add(key + ".bandwidth",
                     fmt::format("{}: {} bytes per second", name, link.bandwidth->bytes_per_second()),
                     "it must be > 0");
    }
    if (link.latency && *link.latency < Time{}) {
      complaints.add(key + ".latency", fmt::format("{}: {} ns", name, link.latency->ns()), "it must be >= 0");
    }
    if (link.count < 1 || link.count > kMostParallel) {
      complaints.add(key + ".count", fmt::format("{}: {} parallel links", name, link.count),
                     fmt::format("from 1 to {}", kMostParallel));
    }
    if (link.from == link.to) complaints.add(key, fmt::format("{}: joins a node to itself", name));
    const bool fresh = seen.emplace(link.from, link.to).second;
    if (!fresh || (link.both_ways && link.from != link.to && !seen.emplace(link.to, link.from).second)) {
      complaints.add(key, fmt::format("{}: these nodes are joined in this direction already", name),
                     "`count` makes parallel links");
    }
  }
}

using NamedNodes = std::map<std::string, std::vector<NodeId>, std::less<>>;

/// Complains about an unknown end of a link and suggests a valid name.
void complain_unknown(const std::string& key, const std::string& name, const NamedNodes& nodes,
                      Complaints& complaints) {
  std::vector<std::string> names;
  for (const auto& [known, ids] : nodes) names.push_back(known);
  const std::string near = nearest_name(name, names);
  complaints.add(key, fmt::format("there is no node `{}`", name),
                 near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
}

void check_ends(const GraphSpec& graph, const std::string& prefix, const NamedNodes& nodes, Complaints& complaints) {
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const GraphLink& link = graph.links[i];
    for (const auto& [side, name] : {std::pair{"from", &link.from}, std::pair{"to", &link.to}}) {
      if (!nodes.contains(*name)) {
        complain_unknown(fmt::format("{}links[{}].{}", prefix, i, side), *name, nodes, complaints);
      }
    }
  }
}

void add_link_row(Topology& topology, const GraphLink& row, NodeId from, NodeId to, ByteRate bandwidth, Time latency) {
  for (std::size_t i = 0; i < row.count; ++i) {
    if (row.both_ways) {
      topology.add_cable(from, to, bandwidth, latency);
    } else {
      topology.add_link(from, to, bandwidth, latency);
    }
  }
}

/// The names of ends of links in the servers of a fabric: "server3" for all its NICs, "server3/nic0" for one.
template <class AddNic>
void name_servers(std::size_t servers, std::size_t nics, NamedNodes& nodes, const AddNic& nic_of) {
  for (std::size_t server = 0; server < servers; ++server) {
    for (std::size_t nic = 0; nic < nics; ++nic) {
      const NodeId id = nic_of(server, nic);
      nodes[fmt::format("server{}", server)].push_back(id);
      nodes[fmt::format("server{}/nic{}", server, nic)] = {id};
    }
  }
}

void check_custom(const TopologySpec& spec, const Size& size, Complaints& complaints) {
  const GraphSpec& graph = spec.fabric.graph;
  if (graph.nodes.empty() && graph.links.empty())
    return complaints.add("fabric.graph",
                          "is missing: a custom fabric has the servers, switches and links of this list",
                          "such as {nodes: [a], links: [{from: server0, to: a}, {from: server1, to: a}]}");
  NamedNodes nodes;
  name_servers(size.servers, size.nics, nodes, [](std::size_t, std::size_t) { return NodeId{}; });
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    const std::string key = fmt::format("fabric.graph.nodes[{}]", i);
    if (node.name.empty()) complaints.add(key, "has no name");
    if (node.kind != NodeKind::fabric_switch || node.server || node.relay) {
      complaints.add(key, fmt::format("`{}` is not a plain switch", node.name), "a custom fabric lists switches only");
    }
    if (!nodes.emplace(node.name, std::vector{NodeId{}}).second) {
      complaints.add(key, fmt::format("the name `{}` is taken", node.name));
    }
  }
  check_link_rows(graph, "fabric.graph.", complaints);
  check_ends(graph, "fabric.graph.", nodes, complaints);
}

void build_custom(Assembly& assembly) {
  const FabricSpec& fabric = assembly.spec.fabric;
  NamedNodes nodes;
  name_servers(assembly.size.servers, assembly.size.nics, nodes,
               [&](std::size_t server, std::size_t nic) { return assembly.nics[server][nic]; });
  for (const GraphNode& node : fabric.graph.nodes) nodes[node.name] = {assembly.add_switch(node.name)};
  for (const GraphLink& link : fabric.graph.links) {
    for (const NodeId from : nodes[link.from]) {
      for (const NodeId to : nodes[link.to]) {
        const auto all = assembly.topology.nodes();
        const bool at_server = all[from.index()].server.valid() || all[to.index()].server.valid();
        const ByteRate usual = at_server ? assembly.spec.server.nic_bandwidth : assembly.link_bandwidth();
        add_link_row(assembly.topology, link, from, to, link.bandwidth.value_or(usual),
                     link.latency.value_or(fabric.link_latency));
      }
    }
  }
}

}  // namespace

FabricBuilder custom_fabric() {
  return {{"custom",
           "the listed switches and links; an end may be `server3` or `server3/nic0`",
           "the scenario",
           {{"graph", &FabricSpec::graph, 0, 0, "switches and links"},
            {"link_bandwidth", &FabricSpec::link_bandwidth, 0, 0,
             "bandwidth of links between switches that give none; auto: that of the NICs"},
            {"link_latency", &FabricSpec::link_latency, 0, 0, "latency of links that give none"}}},
          check_custom,
          build_custom};
}

Topology build_graph(const GraphSpec& graph) {
  Complaints complaints;
  Topology topology;
  NamedNodes nodes;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    const std::string key = fmt::format("nodes[{}]", i);
    if (node.server && static_cast<double>(*node.server) > kLargestCount) {
      complaints.add(key + ".server", fmt::format("`{}`: {}", node.name, *node.server), "servers are numbered from 0");
      continue;
    }
    if (node.relay && node.kind != NodeKind::gpu) {
      complaints.add(key + ".relay", fmt::format("`{}` is not a GPU", node.name),
                     "all other nodes forward traffic anyway");
    }
    const NodeId id = topology.add_node(node.name, node.kind, node.server ? ServerId{*node.server} : ServerId::none());
    if (node.relay) topology.make_relay(id);
    if (!nodes.emplace(node.name, std::vector{id}).second) {
      complaints.add(key, fmt::format("the name `{}` is taken", node.name));
    }
  }
  check_link_rows(graph, "", complaints);
  check_ends(graph, "", nodes, complaints);
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const GraphLink& link = graph.links[i];
    if (!link.bandwidth)
      complaints.add(fmt::format("links[{}].bandwidth", i), link.from + " -> " + link.to + ": not given");
  }
  complaints.throw_if_any();
  for (const GraphLink& link : graph.links) {
    add_link_row(topology, link, nodes[link.from][0], nodes[link.to][0], *link.bandwidth,
                 link.latency.value_or(Time{}));
  }
  topology.finish();
  return topology;
}

}  // namespace contend
