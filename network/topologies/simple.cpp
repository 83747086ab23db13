// Builds fabrics of one or two switches, or of one switch for each server.

#include "network/topologies/assembly.hpp"

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::string_view kTextbook = "textbook";
constexpr std::size_t kLargestMesh = 4096;  // 8 million cables

void check_nothing(const TopologySpec&, const Size&, Complaints&) {}

/// Adds one switch for each server, named switch0, switch1 ...
std::vector<NodeId> add_switches(Assembly& assembly) {
  std::vector<NodeId> switches;
  for (std::size_t server = 0; server < assembly.size.servers; ++server) {
    switches.push_back(assembly.add_switch(fmt::format("switch{}", server)));
    assembly.attach_server(server, switches.back());
  }
  return switches;
}

void build_single_switch(Assembly& assembly) {
  const NodeId middle = assembly.add_switch("switch0");
  for (std::size_t server = 0; server < assembly.size.servers; ++server) assembly.attach_server(server, middle);
}

void build_ring(Assembly& assembly) {
  const std::vector<NodeId> switches = add_switches(assembly);
  for (std::size_t i = 0; i + 1 < switches.size(); ++i) assembly.join(switches[i], switches[i + 1]);
  if (switches.size() > 2) assembly.join(switches.back(), switches.front());
}

void check_torus(const TopologySpec& spec, const Size& size, Complaints& complaints) {
  const auto& dimensions = spec.fabric.dimensions;
  std::size_t product = 1;
  for (const std::size_t along : dimensions) {
    if (along == 0) return complaints.add("fabric.dimensions", "a dimension of 0", "each must be at least 1");
    if (along > size.servers) product = size.servers + 1;
    if (product <= size.servers) product *= along;
  }
  if (dimensions.size() < 2 || dimensions.size() > 3) {
    complaints.add("fabric.dimensions", fmt::format("{} dimensions given", dimensions.size()), "a torus has 2 or 3");
  } else if (product != size.servers) {
    complaints.add("fabric.dimensions", fmt::format("their product is not the number of servers, {}", size.servers));
  }
}

void build_torus(Assembly& assembly) {
  const std::vector<NodeId> switches = add_switches(assembly);
  std::size_t stride = 1;
  for (const std::size_t along : assembly.spec.fabric.dimensions) {
    for (std::size_t i = 0; i < switches.size(); ++i) {
      const std::size_t place = i / stride % along;
      if (place + 1 < along) {
        assembly.join(switches[i], switches[i + stride]);
      } else if (along > 2) {
        assembly.join(switches[i], switches[i - place * stride]);
      }
    }
    stride *= along;
  }
}

void check_mesh(const TopologySpec&, const Size& size, Complaints& complaints) {
  if (size.servers > kLargestMesh) {
    complaints.add("servers", fmt::format("{} servers in a full mesh", size.servers),
                   fmt::format("at most {}", kLargestMesh));
  }
}

void build_fully_connected(Assembly& assembly) {
  const std::vector<NodeId> switches = add_switches(assembly);
  for (std::size_t i = 0; i < switches.size(); ++i) {
    for (std::size_t j = i + 1; j < switches.size(); ++j) assembly.join(switches[i], switches[j]);
  }
}

void build_dumbbell(Assembly& assembly) {
  const NodeId left = assembly.add_switch("left");
  const NodeId right = assembly.add_switch("right");
  const std::size_t half = (assembly.size.servers + 1) / 2;
  for (std::size_t server = 0; server < assembly.size.servers; ++server) {
    assembly.attach_server(server, server < half ? left : right);
  }
  assembly.join(left, right);
}

}  // namespace

FabricBuilder single_switch_fabric() {
  return {{"single-switch",
           "every NIC on one switch, which limits no transfer",
           kTextbook,
           {{"link_latency", &FabricSpec::link_latency, 0, 0, "latency of a cable from a NIC to the switch"}}},
          check_nothing,
          build_single_switch};
}
FabricBuilder ring_fabric() {
  return {
      {"ring", "a switch for each server, joined in a circle", kTextbook, with_cables({})}, check_nothing, build_ring};
}
FabricBuilder torus_fabric() {
  return {{"torus", "a switch for each server, joined to its neighbours along 2 or 3 dimensions that wrap around",
           kTextbook,
           with_cables({{"dimensions", &FabricSpec::dimensions, 1, kLargestCount,
                         "number of servers along each dimension, of which the first varies fastest; a dimension of 2 "
                         "has one cable"}})},
          check_torus,
          build_torus};
}
FabricBuilder fully_connected_fabric() {
  return {{"fully-connected", "a switch for each server, joined to all others", kTextbook, with_cables({})},
          check_mesh,
          build_fully_connected};
}
FabricBuilder dumbbell_fabric() {
  return {
      {"dumbbell", "half of the servers on each of two switches, which share a bottleneck", kTextbook, with_cables({})},
      check_nothing,
      build_dumbbell};
}

}  // namespace contend
