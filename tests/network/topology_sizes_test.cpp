// Compares the sizes of every kind of fabric and server with values worked out by hand.

#include "tests/network/topology_kit.hpp"

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

struct Counts {
  std::size_t gpus, nics, switches, fabric_cables;
  bool operator==(const Counts&) const = default;
};
Counts counts(const TopologySpec& made, std::size_t servers, std::size_t gpus = 1) {
  const Topology topology = build_topology(made, servers, gpus);
  CHECK(topology.servers() == servers);
  CHECK(topology.gpus().size() == servers * gpus);
  return {count(topology, NodeKind::gpu), count(topology, NodeKind::nic), count(topology, NodeKind::fabric_switch),
          fabric_links(topology) / 2};
}

}  // namespace

TEST_CASE("fabrics have the switches and cables of the textbook") {
  CHECK(counts(spec("single-switch"), 5, 2) == Counts{10, 5, 1, 5});
  // A switch for each server: n cables to NICs and n round the ring; two servers need only one between them.
  CHECK(counts(spec("ring"), 6) == Counts{6, 6, 6, 12});
  CHECK(counts(spec("ring"), 2) == Counts{2, 2, 2, 3});
  CHECK(counts(spec("ring"), 1) == Counts{1, 1, 1, 1});
  // 4 x 3: 12 + 12 cables, and 12 to NICs. 4 x 2: the second dimension has 4 cables. 3 x 3 x 3: 81.
  CHECK(counts(torus({4, 3}), 12) == Counts{12, 12, 12, 36});
  CHECK(counts(torus({4, 2}), 8) == Counts{8, 8, 8, 8 + 8 + 4});
  CHECK(counts(torus({3, 3, 3}), 27) == Counts{27, 27, 27, 27 + 81});
  CHECK(counts(torus({1, 5}), 5) == Counts{5, 5, 5, 5 + 5});
  CHECK(counts(spec("fully-connected"), 5) == Counts{5, 5, 5, 5 + 10});
  CHECK(counts(spec("dumbbell"), 5) == Counts{5, 5, 2, 5 + 1});
  // 10 servers of 4 a leaf: 3 leaves, 2 spines, 6 cables between them.
  CHECK(counts(leaf_spine(4, 2), 10) == Counts{10, 10, 5, 16});
  CHECK(counts(fat_tree(4), 16) == Counts{16, 16, 20, 48});
  CHECK(counts(fat_tree(4), 3) == Counts{3, 3, 20, 35});
  // 4 servers in two units of 2, 2 rails: 4 leaves, 3 spines; 8 cables to NICs and 12 upwards.
  CHECK(counts(rails(2, 3, 2), 4, 2) == Counts{8, 8, 7, 20});
  // 2 pods of 2 leaves with 3 servers, 2 aggregation switches, 4 cores: 12 + 8 + 16, in two planes 12 + 8 + 8.
  CHECK(counts(clos(3, 2, 2, 4, 1), 12) == Counts{12, 12, 12, 36});
  CHECK(counts(clos(3, 2, 2, 4, 2), 12) == Counts{12, 12, 12, 28});
  // Kim et al., figure 5: p = h = 2, a = 4, 9 groups, 72 terminals: 36 routers, 9 x 6 local and 36 global cables.
  CHECK(counts(dragonfly(4, 2, 2), 72) == Counts{72, 72, 36, 72 + 54 + 36});
  // 3 groups: 8 global ports over 2 other groups, 4 links a pair.
  CHECK(counts(dragonfly(4, 2, 2), 24) == Counts{24, 24, 12, 24 + 18 + 12});
  CHECK(counts(spec("multi-cluster"), 20) == Counts{20, 20, 10, 20 + 45});
}

TEST_CASE("parallel links multiply the cables between switches and nothing else") {
  TopologySpec made = leaf_spine(4, 2);
  made.fabric.parallel_links = 3;
  CHECK(counts(made, 8) == Counts{8, 8, 4, 8 + 12});
  const Topology topology = build_topology(made, 8, 1);
  CHECK(topology.link_name(topology.out(topology.find_node("leaf0"))[4]) == "leaf0->spine0");
  CHECK(topology.link_name(topology.out(topology.find_node("leaf0"))[6]) == "leaf0->spine0#3");
}

TEST_CASE("servers have the devices and links of their data sheets") {
  struct Expected {
    std::string kind;
    std::size_t nics, bridges, cables;
  };
  // 8 GPUs, two a PCIe switch, two sockets. Cables: sockets 1, switches 4, GPUs 8, NICs, NVLinks.
  for (const auto& [kind, nics, bridges, cables] :
       {Expected{"plain", 1, 0, 8}, Expected{"pcie", 4, 6, 17}, Expected{"nvswitch", 8, 7, 21 + 8},
        Expected{"hybrid-cube-mesh", 4, 6, 17 + 16}}) {
    const Topology topology = build_topology(with_server(spec("single-switch"), kind, nics), 2, 8);
    CHECK(count(topology, NodeKind::nic) == 2 * nics);
    CHECK(count(topology, NodeKind::bridge) == 2 * bridges);
    CHECK(topology.links().size() - fabric_links(topology) == 4 * cables);
  }
}

TEST_CASE("every V100 of a hybrid cube mesh has six NVLinks, and the table is symmetric") {
  TopologySpec made = with_server(spec("single-switch"), "hybrid-cube-mesh");
  made.server.nvlink_bandwidth = ByteRate{25};
  const Topology topology = build_topology(made, 1, 8);
  for (const NodeId gpu : topology.gpus()) {
    double nvlinks = 0;
    for (const LinkId link : topology.out(gpu)) {
      const Link& out = topology.links()[link.index()];
      if (topology.nodes()[out.to.index()].kind == NodeKind::gpu) nvlinks += out.bandwidth.bytes_per_second() / 25;
    }
    CHECK(nvlinks == 6);
  }
}
