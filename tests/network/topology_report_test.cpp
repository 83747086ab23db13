// Compares diameter, bisection and oversubscription of every kind with values worked out by hand, for NICs and cables
// of 10 bytes per second.

#include "network/topology_report.hpp"
#include "tests/network/topology_kit.hpp"

#include <cmath>
#include <tuple>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

struct Facts {
  std::uint32_t diameter;
  double bisection;
  bool operator==(const Facts&) const = default;
};
Facts facts(const TopologySpec& made, std::size_t servers, std::size_t gpus = 1) {
  const TopologyReport report = report_topology(build_topology(made, servers, gpus));
  return {report.diameter, report.bisection.bandwidth.bytes_per_second()};
}
TopologySpec with_links_of(TopologySpec made, double bandwidth) {
  made.fabric.link_bandwidth = ByteRate{bandwidth};
  return made;
}

}  // namespace

TEST_CASE("diameters in links between GPUs, and bisections") {
  // GPU, NIC, switch, NIC, GPU: 4 links. Half of the NICs at 10 each; of 5 servers, 2 can send at once.
  CHECK(facts(spec("single-switch"), 6) == Facts{4, 30});
  CHECK(facts(spec("single-switch"), 5) == Facts{4, 20});
  CHECK(facts(spec("single-switch"), 1) == Facts{0, 0});
  CHECK(facts(spec("single-switch"), 1, 2) == Facts{2, 0});
  // Half round the ring: 3 cables more. A cut of a ring crosses two cables.
  CHECK(facts(spec("ring"), 6) == Facts{7, 20});
  CHECK(facts(spec("ring"), 2) == Facts{5, 10});
  // 2 + 2 cables more. Across a dimension: 4 rows, crossed twice. 8 x 2: the long dimension is cut, 2 rows twice.
  CHECK(facts(torus({4, 4}), 16) == Facts{8, 80});
  CHECK(facts(torus({8, 2}), 16) == Facts{9, 40});
  CHECK(facts(torus({2, 8}), 16) == Facts{9, 40});
  CHECK(facts(torus({4, 4, 2}), 32) == Facts{9, 160});
  CHECK(facts(torus({2, 2, 4}), 16) == Facts{8, 80});
  // 3 x 3 cables cross; at 10 each the 3 NICs of a half are the limit, at 1 the cables.
  CHECK(facts(spec("fully-connected"), 6) == Facts{5, 30});
  CHECK(facts(with_links_of(spec("fully-connected"), 1), 6) == Facts{5, 9});
  CHECK(facts(spec("dumbbell"), 6) == Facts{5, 10});
  // Two leaves of 4 servers with 2 cables upwards each; four leaves of 2 with one.
  CHECK(facts(leaf_spine(4, 2), 8) == Facts{6, 20});
  CHECK(facts(leaf_spine(2, 1), 8) == Facts{6, 20});
  CHECK(facts(leaf_spine(4, 4), 8) == Facts{6, 40});
  CHECK(facts(fat_tree(4), 16) == Facts{8, 80});
  CHECK(facts(fat_tree(6), 54) == Facts{8, 270});
  // A pod of 4 servers: 2 aggregation switches with 2 cores each, or with one.
  CHECK(facts(clos(2, 2, 2, 4, 2), 8) == Facts{8, 40});
  CHECK(facts(clos(2, 2, 2, 2, 2), 8) == Facts{8, 20});
  // 2 servers with 4 NICs in a unit, 8 cables upwards. From a GPU over its PCIe switch and NIC to another rail: 8
  // links.
  CHECK(facts(rails(2, 2, 4), 4, 4) == Facts{8, 80});
  CHECK(facts(rails(2, 1, 4), 4, 4) == Facts{8, 40});
  // Local, global, local. Two groups of 4 routers, 8 global cables: across the groups 8, across pairs of routers in
  // both groups 2 x 2 local cables each, which is 8 too.
  CHECK(facts(dragonfly(4, 2, 2), 72).diameter == 7);
  CHECK(facts(with_links_of(dragonfly(4, 2, 2), 1), 16).bisection == 8);
  // Two sites: the slower direction counts.
  TopologySpec wan = spec("multi-cluster");
  wan.fabric.wan = {{"a", "b"}, {{}, ByteRate{5}, ByteRate{3}, {}}, {Time{}, Time{}, Time{}, Time{}}};
  CHECK(facts(wan, 2) == Facts{5, 3});
}

TEST_CASE("the far corners of servers: over both sockets, or through a GPU that relays") {
  TopologySpec made = with_server(spec("single-switch"), "hybrid-cube-mesh", 4);
  // GPU, PCIe switch, socket, socket, PCIe switch, GPU.
  CHECK(facts(made, 1, 8) == Facts{5, 0});
  made.server.gpu_relay = true;
  CHECK(facts(made, 1, 8) == Facts{2, 0});
  CHECK(facts(with_server(spec("single-switch"), "nvswitch", 4), 1, 8) == Facts{2, 0});
  // Near NICs: GPU, PCIe switch, NIC, switch and back: 6. One NIC: from the far socket 2 + 1 + 1 + 1 + 1 links each
  // way.
  CHECK(facts(with_server(spec("single-switch"), "pcie", 4), 2, 8) == Facts{6, 40});
  CHECK(facts(with_server(spec("single-switch"), "pcie", 1), 2, 8) == Facts{12, 10});
}

TEST_CASE("the diameter is the largest distance of all pairs") {
  TopologySpec lopsided = with_server(leaf_spine(2, 2), "pcie", 2);
  lopsided.server.nic_near_gpu = {0, 1};
  for (const auto& [made, servers, gpus] :
       {std::tuple{dragonfly(3, 2, 1), 22UL, 1UL}, {torus({3, 5}), 15UL, 2UL}, {lopsided, 3UL, 6UL}}) {
    const Topology topology = build_topology(made, servers, gpus);
    const std::vector<bool> up(topology.links().size(), true);
    std::size_t longest = 0;
    for (const NodeId from : topology.gpus()) {
      for (const NodeId to : topology.gpus()) {
        if (from != to) longest = std::max(longest, distances_to(topology, from, to, up).any[from.index()]);
      }
    }
    CHECK(report_topology(topology).diameter == longest);
  }
}

TEST_CASE("oversubscription by tier, as wired and as specified") {
  const auto ratios = [](const TopologySpec& made, std::size_t servers) {
    std::vector<double> all;
    for (const TierReport& tier : report_topology(build_topology(made, servers, 1)).tiers) {
      all.push_back(std::round(tier.oversubscription * 1e9) / 1e9);
    }
    return all;
  };
  using Ratios = std::vector<double>;
  CHECK(ratios(leaf_spine(4, 2), 8) == Ratios{2, 0});
  TopologySpec made = leaf_spine(4, 3);
  made.fabric.oversubscription = 2.5;
  made.fabric.parallel_links = 2;
  CHECK(ratios(made, 16) == Ratios{2.5, 0});
  CHECK(ratios(fat_tree(4), 16) == Ratios{1, 1, 0});
  made = clos(6, 2, 2, 2, 1);
  made.fabric.oversubscription = 3;
  made.fabric.core_oversubscription = 1.5;
  CHECK(ratios(made, 24) == Ratios{3, 1.5, 0});
  CHECK(ratios(spec("ring"), 4) == Ratios{0});
}

TEST_CASE("cables are counted by place and bandwidth, links without a partner apart") {
  TopologySpec made = with_server(spec("multi-cluster"), "nvswitch", 2);
  made.fabric.wan = {{"a", "b", "c"},
                     {{}, ByteRate{5}, ByteRate{5}, ByteRate{3}, {}, ByteRate{5}, ByteRate{5}, ByteRate{5}, {}},
                     std::vector<Time>(9)};
  made.server.nvlink_bandwidth = ByteRate{2};
  made.server.nvlinks_per_gpu = 3;
  made.server.pcie_bandwidth = ByteRate{7};
  made.server.socket_bandwidth = ByteRate{6};
  const TopologyReport report = report_topology(build_topology(made, 3, 4));
  const auto row = [&](std::size_t i) {
    const CableCount& it = report.cables.at(i);
    return std::tuple{it.place, it.bandwidth.bytes_per_second(), it.cables, it.one_way};
  };
  // A server: 4 NVLinks (3 x 2) and one cable between sockets of 6; 2 PCIe switches, 4 GPUs and 2 NICs on 7.
  CHECK(row(0) == std::tuple{LinkPlace::gpu_link, 6.0, 12UL, 0UL});
  CHECK(row(1) == std::tuple{LinkPlace::between_sockets, 6.0, 3UL, 0UL});
  CHECK(row(2) == std::tuple{LinkPlace::pcie, 7.0, 24UL, 0UL});
  CHECK(row(3) == std::tuple{LinkPlace::server_to_fabric, 10.0, 6UL, 0UL});
  // b -> a has 3 and a -> b 5: two links without a partner; a-c and b-c are cables of 5.
  CHECK(row(4) == std::tuple{LinkPlace::between_switches, 3.0, 0UL, 1UL});
  CHECK(row(5) == std::tuple{LinkPlace::between_switches, 5.0, 2UL, 1UL});
  CHECK(report.cables.size() == 6);
  CHECK(report.servers == 3);
  CHECK(report.gpus == 12);
  CHECK(report.nics == 6);
  CHECK(report.bridges == 3 * 5);
  CHECK(report.switches == 3);
}

TEST_CASE("rates are printed with the unit that fits") {
  CHECK(format_rate(ByteRate{50e9}) == "50 GB/s");
  CHECK(format_rate(ByteRate{63.015e9}) == "63.02 GB/s");
  CHECK(format_rate(ByteRate{1.25e12}) == "1.25 TB/s");
  CHECK(format_rate(ByteRate{98.75e6}) == "98.75 MB/s");
  CHECK(format_rate(ByteRate{12}) == "12 B/s");
}
