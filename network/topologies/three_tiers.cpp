// Builds fabrics of three tiers: the fat-tree of k-port switches, and Clos networks whose sizes are chosen freely.
//
// The fat-tree is the fabric of Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network architecture",
// SIGCOMM 2008, section 3. It has k pods of k/2 edge and k/2 aggregation switches and k^3/4 hosts. Aggregation switch j
// of every pod is joined to cores j k/2 ... j k/2 + k/2 - 1.

#include "network/topologies/assembly.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::size_t kLargestPorts = 128;

void check_fat_tree(const TopologySpec& spec, const Size& size, Complaints& complaints) {
  const std::size_t k = spec.fabric.ports;
  if (k % 2 != 0) {
    return complaints.add("fabric.ports", fmt::format("a fat-tree needs an even number, got {}", k),
                          fmt::format("{} or {}", k - 1, k + 1));
  }
  const std::size_t hosts = k * k * k / 4;
  if (size.servers * size.nics <= hosts) return;
  std::size_t enough = k;
  while (enough * enough * enough / 4 < size.servers * size.nics) enough += 2;
  complaints.add("fabric.ports",
                 fmt::format("a fat-tree of {}-port switches has room for {} NICs, not for {} servers with {} each", k,
                             hosts, size.servers, size.nics),
                 fmt::format("{} ports are enough", enough));
}

void build_fat_tree(Assembly& assembly) {
  const std::size_t k = assembly.spec.fabric.ports;
  const std::size_t half = k / 2;
  const auto cable = [&](NodeId a, NodeId b) {
    assembly.topology.add_cable(a, b, assembly.link_bandwidth(), assembly.spec.fabric.link_latency);
  };
  std::vector<NodeId> edges;
  std::vector<NodeId> aggregations;
  for (std::size_t pod = 0; pod < k; ++pod) {
    for (std::size_t i = 0; i < half; ++i) edges.push_back(assembly.add_switch(fmt::format("pod{}/edge{}", pod, i), 1));
    for (std::size_t i = 0; i < half; ++i) {
      aggregations.push_back(assembly.add_switch(fmt::format("pod{}/agg{}", pod, i), 2));
    }
  }
  std::size_t port = 0;
  for (const auto& nics : assembly.nics) {
    for (const NodeId nic : nics) assembly.attach(nic, edges[port++ / half]);
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    for (std::size_t j = 0; j < half; ++j) cable(edges[i], aggregations[i / half * half + j]);
  }
  for (std::size_t core = 0; core < half * half; ++core) {
    const NodeId top = assembly.add_switch(fmt::format("core{}", core), 3);
    for (std::size_t pod = 0; pod < k; ++pod) cable(aggregations[pod * half + core / half], top);
  }
}

void check_clos(const TopologySpec& spec, const Size&, Complaints& complaints) {
  const FabricSpec& fabric = spec.fabric;
  if (fabric.link_bandwidth && fabric.oversubscription > 0 && fabric.core_oversubscription > 0) {
    complaints.add("fabric.link_bandwidth", "given beside both oversubscriptions, which decide all cables",
                   "leave out one of them");
  }
  for (const auto& [name, number] : {std::pair{"fabric.cores", fabric.cores},
                                     std::pair{"fabric.aggregations_per_pod", fabric.aggregations_per_pod}}) {
    if (number % fabric.planes != 0) {
      complaints.add(name, fmt::format("{} can't be divided into {} planes", number, fabric.planes));
    }
  }
}

/// The bandwidths of the cables above the leaves and above the aggregation switches.
std::pair<ByteRate, ByteRate> clos_bandwidths(const Assembly& assembly) {
  const FabricSpec& fabric = assembly.spec.fabric;
  const auto number = [](std::size_t n) { return static_cast<double>(n); };
  ByteRate lower = assembly.link_bandwidth();
  ByteRate upper = lower;
  if (fabric.oversubscription > 0) {
    const double below =
        number(fabric.servers_per_leaf * assembly.size.nics) * assembly.spec.server.nic_bandwidth.bytes_per_second();
    lower = ByteRate{below / (number(fabric.aggregations_per_pod * fabric.parallel_links) * fabric.oversubscription)};
  }
  if (fabric.core_oversubscription > 0) {
    const double below = number(fabric.leaves_per_pod) * lower.bytes_per_second();
    upper = ByteRate{below / (number(fabric.cores / fabric.planes) * fabric.core_oversubscription)};
  }
  return {lower, upper};
}

void build_clos(Assembly& assembly) {
  const FabricSpec& fabric = assembly.spec.fabric;
  const auto [lower, upper] = clos_bandwidths(assembly);
  const std::size_t leaves = (assembly.size.servers + fabric.servers_per_leaf - 1) / fabric.servers_per_leaf;
  const std::size_t pods = (leaves + fabric.leaves_per_pod - 1) / fabric.leaves_per_pod;
  std::vector<NodeId> aggregations;
  for (std::size_t pod = 0; pod < pods; ++pod) {
    for (std::size_t i = 0; i < fabric.aggregations_per_pod; ++i) {
      aggregations.push_back(assembly.add_switch(fmt::format("pod{}/agg{}", pod, i), 2));
    }
  }
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
    const std::size_t pod = leaf / fabric.leaves_per_pod;
    const NodeId node = assembly.add_switch(fmt::format("pod{}/leaf{}", pod, leaf % fabric.leaves_per_pod), 1);
    const std::size_t first = leaf * fabric.servers_per_leaf;
    for (std::size_t i = first; i < std::min(first + fabric.servers_per_leaf, assembly.size.servers); ++i) {
      assembly.attach_server(i, node);
    }
    for (std::size_t i = 0; i < fabric.aggregations_per_pod; ++i) {
      assembly.join(node, aggregations[pod * fabric.aggregations_per_pod + i], lower);
    }
  }
  const std::size_t cores_of_plane = fabric.cores / fabric.planes;
  const std::size_t aggregations_of_plane = fabric.aggregations_per_pod / fabric.planes;
  for (std::size_t core = 0; core < fabric.cores; ++core) {
    const NodeId top = assembly.add_switch(fmt::format("core{}", core), 3);
    for (std::size_t i = 0; i < aggregations.size(); ++i) {
      const std::size_t plane = i % fabric.aggregations_per_pod / aggregations_of_plane;
      if (plane == core / cores_of_plane) assembly.join(aggregations[i], top, upper);
    }
  }
}

}  // namespace

FabricBuilder fat_tree_fabric() {
  return {{"fat-tree", "three tiers of equal switches, not oversubscribed; room for ports^3 / 4 NICs",
           "Al-Fares et al., SIGCOMM 2008",
           with_cables({{"ports", &FabricSpec::ports, 2, kLargestPorts, "number of ports of every switch (k), even"}},
                       false)},
          check_fat_tree,
          build_fat_tree};
}
FabricBuilder clos_fabric() {
  return {
      {"clos", "three tiers: leaves, aggregation switches of a pod, cores", "Clos, Bell System Technical Journal 1953",
       with_cables(
           {count("servers_per_leaf", &FabricSpec::servers_per_leaf,
                  "number of servers on a leaf, with all their NICs"),
            count("leaves_per_pod", &FabricSpec::leaves_per_pod, "number of leaves in a pod"),
            count("aggregations_per_pod", &FabricSpec::aggregations_per_pod,
                  "number of switches in a pod to which each of its leaves is joined"),
            count("cores", &FabricSpec::cores, "number of switches that join the pods"),
            count("planes", &FabricSpec::planes,
                  "number of sets of cores; a set is joined to its share of the aggregation switches of every pod"),
            {"oversubscription", &FabricSpec::oversubscription, 0, kLargestCount,
             "oversubscription of a full leaf; 0: link_bandwidth decides"},
            {"core_oversubscription", &FabricSpec::core_oversubscription, 0, kLargestCount,
             "oversubscription of the aggregation switches of a full pod; 0: link_bandwidth decides"}})},
      check_clos,
      build_clos};
}

}  // namespace contend
