#include "scenarios/run/fabric.hpp"

#include "network/routing/planned_routes.hpp"
#include "network/routing/planning.hpp"
#include "network/routing/rail_proxy.hpp"
#include "scenarios/keys/topology_codec.hpp"
#include "scenarios/run/route_plan.hpp"
#include "scenarios/run/scenario_failures.hpp"
#include "sim/check.hpp"
#include "sim/complaints.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

/// The most devices of all servers together, so that a typing error does not request all the memory.
constexpr std::size_t kMaxDevices = 1'000'000;

std::size_t servers(const ClusterSetup& cluster) {
  return static_cast<std::size_t>(cluster.servers);
}
std::size_t gpus_per_server(const ClusterSetup& cluster) {
  return static_cast<std::size_t>(cluster.gpus_per_server);
}

/// Turns a key of network/topologies/ into a key of scenarios.
std::string scenario_key(const std::string& key) {
  if (key == "servers" || key == "gpus_per_server") return "cluster." + key;
  if (key == "server.nic_bandwidth") return "network.nic";
  if (key.starts_with("fabric.") || key.starts_with("server.")) return "network." + key;
  return key;
}

InputError with_scenario_keys(const InputError& error) {
  return amended(error, [](Complaint& each) { each.key = scenario_key(each.key); });
}

}  // namespace

TopologySpec topology_spec(const NetworkSetup& network) {
  CONTEND_CHECK(network.nic.has_value(), "the fidelity flow has a rate of interfaces");
  TopologySpec spec = network.topology;
  spec.server.nic_bandwidth = *network.nic;
  return spec;
}

std::vector<Complaint> topology_complaints(const ClusterSetup& cluster, const NetworkSetup& network) {
  const TopologySpec spec = topology_spec(network);
  std::vector<Complaint> complaints;
  for (const std::string& name : missing_parameters(spec.fabric)) {
    complaints.push_back(
        {.key = "network.fabric." + name, .reason = fmt::format("missing; kind {} requires it", spec.fabric.kind)});
  }
  const std::size_t devices = servers(cluster) * (gpus_per_server(cluster) + spec.server.nics);
  if (devices > kMaxDevices) {
    complaints.push_back({.key = "cluster.servers",
                          .reason = fmt::format("{} GPUs and interfaces in all", devices),
                          .hint = fmt::format("a topology has at most {}", kMaxDevices)});
  }
  if (!complaints.empty()) return complaints;
  try {
    check_topology(spec, servers(cluster), gpus_per_server(cluster));
  } catch (const InputError& error) {
    return with_scenario_keys(error).complaints();
  }
  return {};
}

Topology build_topology(const ClusterSetup& cluster, const NetworkSetup& network) {
  std::vector<Complaint> complaints = topology_complaints(cluster, network);
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  try {
    return build_topology(topology_spec(network), servers(cluster), gpus_per_server(cluster));
  } catch (const InputError& error) {
    throw with_scenario_keys(error);
  }
}

std::unique_ptr<Router> build_router(const NetworkSetup& network, const Topology& topology, std::uint64_t seed,
                                     std::shared_ptr<const ReservedSpines> reserved) {
  const auto make_router = [&]() -> std::unique_ptr<Router> {
    switch (network.routing) {
      case Routing::shortest_path:
        return make_shortest_path_router(topology);
      case Routing::ecmp:
        return make_ecmp_router(topology, seed, network.ecmp_hash);
      case Routing::spraying:
        return make_spraying_router(topology);
      case Routing::ethereal:
        return make_ethereal_router(topology);
      case Routing::planned:
        return make_planning_router(topology, network.planning, reserved);
    }
    check_failed(__FILE__, __LINE__, "a scenario has a routing of the enum", "");
  };
  const auto make_with_proxies = [&] { return make_rail_proxy_router(topology, make_router()); };
  if (!network.routes) return make_with_proxies();
  const std::string& file = *network.routes;
  try {
    return make_plan_router(topology, read_route_plan(file, topology), make_with_proxies());
  } catch (const InputError& error) {
    throw amended(error, [&](Complaint& each) { each.file = file; });
  }
}

std::vector<LinkEvent> link_changes(const NetworkSetup& network, const Topology& topology) {
  if (!network.events) return {};
  return resolve_link_events(read_link_events(*network.events), topology, *network.events);
}

namespace {

/// What fails together, by name: the links of each interface to the fabric, of each switch, or of each cable.
std::vector<std::pair<std::string, std::vector<LinkId>>> parts_of(const Topology& topology, ComponentScope scope) {
  std::map<std::string, std::vector<LinkId>> parts;
  const auto nodes = topology.nodes();
  for (std::size_t l = 0; l < topology.links().size(); ++l) {
    const Link& link = topology.links()[l];
    const Node& from = nodes[link.from.index()];
    const Node& to = nodes[link.to.index()];
    const bool is_outside = !from.server.valid() && !to.server.valid();
    if (scope == ComponentScope::link) {
      if (!is_outside) continue;
      // Both directions of a cable have the name of the one whose ends are in order of id.
      const bool forwards = link.from < link.to;
      const std::string name = topology.link_name(LinkId{l});
      const std::size_t arrow = name.find("->"), number = std::min(name.find('#'), name.size());
      parts[forwards ? name
                     : name.substr(arrow + 2, number - arrow - 2) + "->" + name.substr(0, arrow) + name.substr(number)]
          .push_back(LinkId{l});
      continue;
    }
    for (const Node* const node : {&from, &to}) {
      const bool is_one = scope == ComponentScope::nic ? node->kind == NodeKind::nic && from.server != to.server
                                                       : node->kind == NodeKind::fabric_switch;
      if (is_one) parts[node->name].push_back(LinkId{l});
    }
  }
  return {parts.begin(), parts.end()};
}

std::string_view plural_of(ComponentScope scope) {
  if (scope == ComponentScope::link) return "links between switches";
  return scope == ComponentScope::nic ? "interfaces" : "switches";
}

}  // namespace

std::vector<FailingLinks> failing_links(const FailureSetup& failures, const Topology& topology) {
  std::vector<FailingLinks> failing;
  for (const FailingComponents& each : failures.components) {
    if (!each.is_of_fabric() || each.fails->is_never()) continue;
    const auto parts = parts_of(topology, each.of);
    if (parts.empty())
      throw InputError{Complaint{.key = fmt::format("failures.components[{}].of", &each - failures.components.data()),
                                 .reason = fmt::format("`{}`: the fabric has no {}", each.name, plural_of(each.of)),
                                 .hint = "`contend show --topology` shows what it has"}};
    for (const auto& [name, links] : parts)
      failing.push_back(
          {each.name + "/" + name, links, law_of(*each.fails), repair_law(each, failures), each.factor.value_or(0)});
  }
  return failing;
}

}  // namespace contend
