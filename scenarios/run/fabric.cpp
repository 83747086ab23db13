#include "scenarios/run/fabric.hpp"

#include "network/routing/planned_routes.hpp"
#include "network/routing/rail_proxy.hpp"
#include "scenarios/keys/topology_codec.hpp"
#include "scenarios/run/route_plan.hpp"
#include "sim/check.hpp"
#include "sim/complaints.hpp"

#include <fmt/format.h>

namespace contend {
namespace {

/// The most devices of all servers together, so that a typing error does not request all the memory.
constexpr std::size_t kMaxDevices = 1'000'000;

std::size_t servers(const Scenario& scenario) {
  return static_cast<std::size_t>(scenario.cluster.servers);
}
std::size_t gpus_per_server(const Scenario& scenario) {
  return static_cast<std::size_t>(scenario.cluster.gpus_per_server);
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

TopologySpec topology_spec(const Scenario& scenario) {
  CONTEND_CHECK(scenario.network.nic.has_value(), "the fidelity flow has a rate of interfaces");
  TopologySpec spec = scenario.network.topology;
  spec.server.nic_bandwidth = *scenario.network.nic;
  return spec;
}

std::vector<Complaint> topology_complaints(const Scenario& scenario) {
  const TopologySpec spec = topology_spec(scenario);
  std::vector<Complaint> complaints;
  for (const std::string& name : missing_parameters(spec.fabric)) {
    complaints.push_back(
        {.key = "network.fabric." + name, .reason = fmt::format("missing; kind {} requires it", spec.fabric.kind)});
  }
  const std::size_t devices = servers(scenario) * (gpus_per_server(scenario) + spec.server.nics);
  if (devices > kMaxDevices) {
    complaints.push_back({.key = "cluster.servers",
                          .reason = fmt::format("{} GPUs and interfaces in all", devices),
                          .hint = fmt::format("a topology has at most {}", kMaxDevices)});
  }
  if (!complaints.empty()) return complaints;
  try {
    check_topology(spec, servers(scenario), gpus_per_server(scenario));
  } catch (const InputError& error) {
    return with_scenario_keys(error).complaints();
  }
  return {};
}

Topology build_topology(const Scenario& scenario) {
  std::vector<Complaint> complaints = topology_complaints(scenario);
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  try {
    return build_topology(topology_spec(scenario), servers(scenario), gpus_per_server(scenario));
  } catch (const InputError& error) {
    throw with_scenario_keys(error);
  }
}

std::unique_ptr<Router> build_router(const Scenario& scenario, const Topology& topology, std::uint64_t seed) {
  const auto make_router = [&]() -> std::unique_ptr<Router> {
    switch (scenario.network.routing) {
      case Routing::shortest_path:
        return make_shortest_path_router(topology);
      case Routing::ecmp:
        return make_ecmp_router(topology, seed);
      case Routing::spraying:
        return make_spraying_router(topology);
      case Routing::ethereal:
        return make_ethereal_router(topology);
    }
    check_failed(__FILE__, __LINE__, "a scenario has a routing of the enum", "");
  };
  const auto make_with_proxies = [&] { return make_rail_proxy_router(topology, make_router()); };
  if (!scenario.network.routes) return make_with_proxies();
  const std::string& file = *scenario.network.routes;
  try {
    return make_plan_router(topology, read_route_plan(file, topology), make_with_proxies());
  } catch (const InputError& error) {
    throw amended(error, [&](Complaint& each) { each.file = file; });
  }
}

std::vector<LinkEvent> link_changes(const Scenario& scenario, const Topology& topology) {
  if (!scenario.network.events) return {};
  return resolve_link_events(read_link_events(*scenario.network.events), topology, *scenario.network.events);
}

}  // namespace contend
