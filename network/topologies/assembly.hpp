#pragma once
// Declares what the builders of fabrics and servers share: the topology under construction, and the rows of the tables
// of kinds.

#include "network/topologies/topology_spec.hpp"
#include "sim/complaints.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// The largest count of anything in a topology. It keeps a typing error from exhausting the memory.
inline constexpr double kLargestCount = 1'000'000;

/// The numbers of servers and devices to build.
struct Size {
  std::size_t servers = 0;
  std::size_t gpus_per_server = 0;
  std::size_t nics = 0;  ///< per server
};

/// A topology that has its servers and still needs its fabric.
struct Assembly {
  const TopologySpec& spec;
  Size size;
  Topology topology{};
  std::vector<std::vector<NodeId>> nics{};  ///< by server

  /// Bandwidth of cables between switches.
  [[nodiscard]] ByteRate link_bandwidth() const {
    return spec.fabric.link_bandwidth.value_or(spec.server.nic_bandwidth);
  }
  /// `tier`: Node::tier
  NodeId add_switch(std::string name, std::uint8_t tier = 0) {
    const NodeId added = topology.add_node(std::move(name), NodeKind::fabric_switch);
    topology.set_tier(added, tier);
    return added;
  }
  void attach(NodeId nic, NodeId leaf) {
    topology.add_cable(nic, leaf, spec.server.nic_bandwidth, spec.fabric.link_latency);
  }
  /// Attaches all NICs of the server.
  void attach_server(std::size_t server, NodeId leaf) {
    for (const NodeId nic : nics[server]) attach(nic, leaf);
  }
  /// Joins two switches by FabricSpec::parallel_links cables.
  void join(NodeId a, NodeId b, ByteRate bandwidth) {
    for (std::size_t i = 0; i < spec.fabric.parallel_links; ++i) {
      topology.add_cable(a, b, bandwidth, spec.fabric.link_latency);
    }
  }
  void join(NodeId a, NodeId b) { join(a, b, link_bandwidth()); }
};

/// A kind of fabric. `check` complains about faults that the ranges of the parameters can't express; it is called only
/// if the parameters are in range.
struct FabricBuilder {
  TopologyKind<FabricSpec> kind;
  void (*check)(const TopologySpec&, const Size&, Complaints&);
  void (*build)(Assembly&);
};
/// A kind of server.
struct ServerBuilder {
  TopologyKind<ServerSpec> kind;
  void (*check)(const ServerSpec&, std::size_t gpus, Complaints&);
  /// Adds server number `server` with its GPUs and then its NICs in order, and returns the NICs.
  std::vector<NodeId> (*build)(const ServerSpec&, std::size_t gpus, std::size_t server, Topology&);
  ServerSpec defaults{};
  std::string_view built_as{};  ///< a machine: its kind of server
};

/// The parameters of a fabric: the parameters of cables, which many fabrics share, and its own.
[[nodiscard]] std::vector<TopologyParameter<FabricSpec>> with_cables(std::vector<TopologyParameter<FabricSpec>> own,
                                                                     bool parallel = true);
/// The parameter for a count >= 1.
[[nodiscard]] inline TopologyParameter<FabricSpec> count(std::string_view name, std::size_t FabricSpec::*field,
                                                         std::string_view text) {
  return {name, field, 1, kLargestCount, text};
}

// Each function returns the row of one kind and is defined in the file of that kind.
[[nodiscard]] FabricBuilder single_switch_fabric();
[[nodiscard]] FabricBuilder ring_fabric();
[[nodiscard]] FabricBuilder torus_fabric();
[[nodiscard]] FabricBuilder fully_connected_fabric();
[[nodiscard]] FabricBuilder dumbbell_fabric();
[[nodiscard]] FabricBuilder leaf_spine_fabric();
[[nodiscard]] FabricBuilder rail_fabric();
[[nodiscard]] FabricBuilder fat_tree_fabric();
[[nodiscard]] FabricBuilder clos_fabric();
[[nodiscard]] FabricBuilder dragonfly_fabric();
[[nodiscard]] FabricBuilder multi_cluster_fabric();
[[nodiscard]] FabricBuilder custom_fabric();

[[nodiscard]] ServerBuilder plain_server();
[[nodiscard]] ServerBuilder pcie_server();
[[nodiscard]] ServerBuilder nvswitch_server();
[[nodiscard]] ServerBuilder cube_mesh_server();
[[nodiscard]] ServerBuilder mi250x_server();
/// The rows of machines.
[[nodiscard]] std::vector<ServerBuilder> machine_servers();

}  // namespace contend
