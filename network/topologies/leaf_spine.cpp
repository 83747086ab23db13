// Builds fabrics of two tiers: leaf-spine, and rail-optimised, where the NICs of a server go to different leaves.
//
// The rail-optimised fabric follows the NVIDIA DGX SuperPOD reference architecture (RA-11333-001, H100): NIC i of every
// server of a scalable unit of 32 goes to leaf i of that unit, so that GPUs at the same place in their servers are one
// switch apart.

#include "network/topologies/assembly.hpp"

#include <fmt/core.h>

namespace contend {

namespace {

std::size_t divide_up(std::size_t a, std::size_t b) {
  return (a + b - 1) / b;
}

/// The number of NICs below a leaf whose ports are all in use.
std::size_t nics_per_leaf(const Assembly& assembly, bool rails) {
  return assembly.spec.fabric.servers_per_leaf * (rails ? 1 : assembly.size.nics);
}

void check_two_tiers(const TopologySpec& spec, const Size&, Complaints& complaints) {
  if (spec.fabric.link_bandwidth && spec.fabric.oversubscription > 0) {
    complaints.add("fabric.oversubscription", "given beside fabric.link_bandwidth, which it would decide",
                   "leave out one of them");
  }
}

void build_two_tiers(Assembly& assembly, bool rails) {
  const FabricSpec& fabric = assembly.spec.fabric;
  const std::size_t width = rails ? assembly.size.nics : 1;  // leaves to which a server is attached
  const std::size_t units = divide_up(assembly.size.servers, fabric.servers_per_leaf);
  std::vector<NodeId> leaves;
  for (std::size_t i = 0; i < units * width; ++i) leaves.push_back(assembly.add_switch(fmt::format("leaf{}", i), 1));
  for (std::size_t server = 0; server < assembly.size.servers; ++server) {
    const std::size_t first = server / fabric.servers_per_leaf * width;
    for (std::size_t nic = 0; nic < assembly.size.nics; ++nic) {
      assembly.attach(assembly.nics[server][nic], leaves[first + (rails ? nic : 0)]);
    }
  }
  ByteRate bandwidth = assembly.link_bandwidth();
  if (fabric.oversubscription > 0) {
    const double below =
        static_cast<double>(nics_per_leaf(assembly, rails)) * assembly.spec.server.nic_bandwidth.bytes_per_second();
    const auto cables = static_cast<double>(fabric.spines * fabric.parallel_links);
    bandwidth = ByteRate{below / (cables * fabric.oversubscription)};
  }
  for (std::size_t i = 0; i < fabric.spines; ++i) {
    const NodeId spine = assembly.add_switch(fmt::format("spine{}", i), 2);
    for (const NodeId leaf : leaves) assembly.join(leaf, spine, bandwidth);
  }
}

std::vector<TopologyParameter<FabricSpec>> parameters(std::string_view servers_per_leaf) {
  return with_cables({count("servers_per_leaf", &FabricSpec::servers_per_leaf, servers_per_leaf),
                      count("spines", &FabricSpec::spines, "number of switches to which every leaf is joined"),
                      {"oversubscription", &FabricSpec::oversubscription, 0, kLargestCount,
                       "bandwidth from the servers into a full leaf, divided by that from it to the spines; 0: "
                       "link_bandwidth decides"}});
}

}  // namespace

FabricBuilder leaf_spine_fabric() {
  return {{"leaf-spine", "servers on leaves, every leaf joined to every spine", "Alizadeh and Edsall, HOTI 2013",
           parameters("number of servers on a leaf, with all their NICs")},
          check_two_tiers,
          [](Assembly& assembly) { build_two_tiers(assembly, false); }};
}
FabricBuilder rail_fabric() {
  return {{"rail-optimised", "leaf-spine with a leaf for each NIC of the servers of a group",
           "NVIDIA DGX SuperPOD reference architecture RA-11333-001",
           parameters("number of servers in a group, which has a leaf for NIC 0, another for NIC 1, and so on")},
          check_two_tiers,
          [](Assembly& assembly) { build_two_tiers(assembly, true); }};
}

}  // namespace contend
