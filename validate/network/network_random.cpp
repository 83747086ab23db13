#include "network/routing.hpp"
#include "network/topologies/topology_spec.hpp"
#include "validate/network/network_simgrid.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::int64_t kMostServers = 64;
constexpr std::int64_t kMostFlows = 120;

/// A random tree of switches with further cables between some of them, and servers at random switches.
Topology random_graph(std::size_t servers, RandomStream& random) {
  GraphSpec graph;
  const std::int64_t switches = random.uniform_integer(1, 20);
  const auto cable = [&](const std::string& a, const std::string& b) {
    const auto joined = std::find_if(graph.links.begin(), graph.links.end(), [&](const auto& link) {
      return (link.from == a && link.to == b) || (link.from == b && link.to == a);
    });
    if (joined != graph.links.end()) {
      ++joined->count;
    } else {
      graph.links.push_back({a, b, ByteRate{1e9}, Time{}, true, 1});
    }
  };
  const auto name = [](std::int64_t i) { return fmt::format("switch{}", i); };
  for (std::int64_t i = 0; i < switches; ++i) {
    graph.nodes.push_back({name(i), NodeKind::fabric_switch, std::nullopt, false});
    if (i > 0) cable(name(random.uniform_integer(0, i - 1)), name(i));
  }
  for (std::int64_t more = random.uniform_integer(0, 2 * (switches - 1)); more > 0; --more) {
    const std::int64_t a = random.uniform_integer(0, switches - 1);
    cable(name(a), name((a + random.uniform_integer(1, switches - 1)) % switches));
  }
  for (std::size_t s = 0; s < servers; ++s) {
    graph.nodes.push_back({fmt::format("server{}/gpu0", s), NodeKind::gpu, s, false});
    cable(graph.nodes.back().name, name(random.uniform_integer(0, switches - 1)));
  }
  return build_graph(graph);
}

Topology random_topology(std::string& kind, RandomStream& random) {
  constexpr std::array<const char*, 12> kKinds{"single-switch", "ring",         "torus",        "fully-connected",
                                               "dumbbell",      "dragonfly",    "fat-tree",     "leaf-spine",
                                               "random graph",  "random graph", "random graph", "random graph"};
  kind = kKinds[static_cast<std::size_t>(random.uniform_integer(0, kKinds.size() - 1))];
  const auto size = [&](std::int64_t least, std::int64_t most) {
    return static_cast<std::size_t>(random.uniform_integer(least, most));
  };
  std::size_t servers = size(4, kMostServers);
  if (kind == "random graph") return random_graph(servers, random);
  TopologySpec spec;
  spec.fabric.kind = kind;
  if (kind == "fully-connected") servers = size(4, 16);
  if (kind == "torus") {
    spec.fabric.dimensions = {size(2, 5), size(2, 5)};
    servers = spec.fabric.dimensions[0] * spec.fabric.dimensions[1];
  } else if (kind == "fat-tree") {
    spec.fabric.ports = 2 * size(2, 3);
    servers = spec.fabric.ports * spec.fabric.ports * spec.fabric.ports / 4;
  } else if (kind == "leaf-spine") {
    spec.fabric.servers_per_leaf = size(2, 8);
    spec.fabric.spines = size(1, 6);
    spec.fabric.parallel_links = size(1, 2);
  } else if (kind == "dragonfly") {
    spec.fabric.routers_per_group = 4;
    spec.fabric.servers_per_router = 2;
    spec.fabric.global_links = size(1, 2);
    servers = 8 * size(2, 5);
  }
  return build_topology(spec, servers, 1);
}

}  // namespace

FlowCase random_flow_case(RandomStream& random) {
  FlowCase made;
  const Topology topology = random_topology(made.kind, random);
  const auto router = make_ecmp_router(topology, random.next());
  const bool equal_capacities = random.uniform() < 0.3;
  const bool equal_sizes = random.uniform() < 0.3;
  const bool at_once = random.uniform() < 0.3;
  for (std::size_t l = 0; l < topology.links().size(); ++l) {
    made.capacities.push_back(equal_capacities ? 2e9 : random.uniform(1e9, 10e9));
  }
  const auto gpus = static_cast<std::int64_t>(topology.gpus().size());
  Route route;
  for (std::int64_t left = random.uniform_integer(1, kMostFlows); left > 0; --left) {
    const std::int64_t from = random.uniform_integer(0, gpus - 1);
    const std::int64_t to = (from + random.uniform_integer(1, gpus - 1)) % gpus;
    router->route(topology.gpus()[static_cast<std::size_t>(from)], topology.gpus()[static_cast<std::size_t>(to)],
                  random.next(), route);
    FlowCase::Flow flow;
    flow.start = at_once ? Time{} : Time::nanoseconds(random.uniform_integer(0, 20'000'000'000));
    flow.bytes = equal_sizes ? 1'000'000'000 : random.uniform_integer(100'000'000, 10'000'000'000);
    for (const LinkShare& use : route.links) flow.links.push_back(use.link.value());
    made.flows.push_back(std::move(flow));
  }
  std::stable_sort(made.flows.begin(), made.flows.end(),
                   [](const FlowCase::Flow& a, const FlowCase::Flow& b) { return a.start < b.start; });
  return made;
}

}  // namespace contend
