// Tests the complaints about topologies: all faults are reported at once, with names.

#include "tests/network/topology_kit.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

using Keys = std::vector<std::string>;

std::vector<std::string> texts(auto&& build) {
  std::vector<std::string> all;
  try {
    build();
  } catch (const InputError& error) {
    for (const Complaint& complaint : error.complaints()) all.push_back(complaint.format());
  }
  return all;
}

}  // namespace

TEST_CASE("bad parameters are reported together, by field") {
  TopologySpec made = leaf_spine(0, 0);
  made.fabric.link_bandwidth = ByteRate{0};
  made.fabric.link_latency = Time::nanoseconds(-1);
  made.fabric.parallel_links = 0;
  made.fabric.oversubscription = -2;
  made.server.nic_bandwidth = ByteRate{std::numeric_limits<double>::quiet_NaN()};
  made.server.pcie_latency = Time::nanoseconds(-5);
  CHECK(complaints(made, 0, 0) == Keys{"fabric.link_bandwidth", "fabric.link_latency", "fabric.oversubscription",
                                       "fabric.parallel_links", "fabric.servers_per_leaf", "fabric.spines",
                                       "gpus_per_server", "server.nic_bandwidth", "server.pcie_latency", "servers"});
}

TEST_CASE("unknown kinds get the nearest name, and parameters of other kinds are refused") {
  TopologySpec made = spec("leaf-spin");
  made.server.kind = "nvswich";
  CHECK(texts([&] { return build_topology(made, 2, 1); }) ==
        Keys{"fabric.kind: there is no kind `leaf-spin`; did you mean \"leaf-spine\"?",
             "server.kind: there is no kind `nvswich`; did you mean \"nvswitch\"?"});
  made = spec("ring");
  made.fabric.ports = 4;
  made.server.nics = 2;
  CHECK(texts([&] { return build_topology(made, 2, 1); }) ==
        Keys{"fabric.ports: set, but `ring` has no such parameter",
             "server.nics: set, but `plain` has no such parameter"});
}

TEST_CASE("sizes that do not fit are refused, with sizes that would") {
  CHECK(texts([] { return build_topology(fat_tree(5), 1, 1); }) ==
        Keys{"fabric.ports: a fat-tree needs an even number, got 5; 4 or 6"});
  CHECK(
      texts([] { return build_topology(fat_tree(4), 17, 1); }) ==
      Keys{"fabric.ports: a fat-tree of 4-port switches has room for 16 NICs, not for 17 servers with 1 each; 6 ports "
           "are enough"});
  CHECK(complaints(torus({4, 4}), 15) == Keys{"fabric.dimensions"});
  CHECK(complaints(torus({16}), 16) == Keys{"fabric.dimensions"});
  CHECK(complaints(torus({4, 1}), 4).empty());
  CHECK(complaints(torus({5, 1}), 4) == Keys{"fabric.dimensions"});
  CHECK(complaints(torus({0, 4}), 4) == Keys{"fabric.dimensions"});
  CHECK(complaints(torus({1U << 20U, 1U << 20U, 1U << 20U}), 4) ==
        Keys{"fabric.dimensions", "fabric.dimensions", "fabric.dimensions"});
  CHECK(complaints(dragonfly(4, 2, 2), 72).empty());
  CHECK(complaints(dragonfly(4, 2, 2), 73) == Keys{"servers"});
  CHECK(complaints(clos(2, 2, 3, 4, 2), 8) == Keys{"fabric.aggregations_per_pod"});
  CHECK_NOTHROW(check_topology(spec("fully-connected"), 4096, 1));  // not built: 8 million cables
  CHECK(complaints(spec("fully-connected"), 4097) == Keys{"servers"});
  CHECK(complaints(spec("multi-cluster"), 9) == Keys{"servers"});
  CHECK(complaints(with_server(spec("single-switch"), "hybrid-cube-mesh"), 1, 4) == Keys{"gpus_per_server"});
  TopologySpec both = leaf_spine(2, 2);
  both.fabric.link_bandwidth = ByteRate{5};
  both.fabric.oversubscription = 2;
  CHECK(complaints(both, 4) == Keys{"fabric.oversubscription"});
  TopologySpec near = with_server(spec("single-switch"), "pcie", 2);
  near.server.nic_near_gpu = {0, 4, 1};
  CHECK(complaints(near, 1, 4) == Keys{"server.nic_near_gpu", "server.nic_near_gpu"});
}

TEST_CASE("a matrix between sites must be complete, positive and named") {
  TopologySpec made = spec("multi-cluster");
  made.fabric.sites = {"tokyo", "tokio", "tokyo"};
  CHECK(texts([&] { return build_topology(made, 4, 1); }) ==
        Keys{"fabric.sites: `tokyo` is named twice",
             "fabric.sites: the matrix has no site `tokio`; did you mean \"tokyo\"?"});
  made.fabric.sites.clear();
  made.fabric.wan = {{"a", "b"},
                     {ByteRate{0}, ByteRate{0}, ByteRate{5}, ByteRate{0}},
                     {Time{}, Time::nanoseconds(-1), Time{}, Time{}}};
  CHECK(complaints(made, 2) == Keys{"fabric.wan.bandwidth", "fabric.wan.latency"});
  made.fabric.wan.latency.pop_back();
  CHECK(complaints(made, 2) == Keys{"fabric.wan.latency"});
}

TEST_CASE("a custom fabric names the rows that are wrong") {
  TopologySpec made = spec("custom");
  made.fabric.graph.nodes = {{"tor", NodeKind::fabric_switch, {}, false},
                             {"server0", NodeKind::fabric_switch, {}, false},
                             {"x", NodeKind::gpu, 0, false}};
  made.fabric.graph.links = {{"server0", "tor", {}, {}, true, 1},
                             {"tor", "server0", {}, {}, true, 1},
                             {"server1/nic1", "tor", {}, {}, true, 1},
                             {"server1", "torr", ByteRate{-1}, {}, true, 0},
                             {"tor", "tor", {}, Time::nanoseconds(-1), true, 1}};
  CHECK(texts([&] { return build_topology(made, 2, 1); }) ==
        Keys{"fabric.graph.nodes[1]: the name `server0` is taken",
             "fabric.graph.nodes[2]: `x` is not a plain switch; a custom fabric lists switches only",
             "fabric.graph.links[1]: tor -> server0: these nodes are joined in this direction already; `count` makes "
             "parallel links",
             "fabric.graph.links[3].bandwidth: server1 -> torr: -1 bytes per second; it must be > 0",
             "fabric.graph.links[3].count: server1 -> torr: 0 parallel links; from 1 to 4096",
             "fabric.graph.links[4].latency: tor -> tor: -1 ns; it must be >= 0",
             "fabric.graph.links[4]: tor -> tor: joins a node to itself",
             "fabric.graph.links[2].from: there is no node `server1/nic1`; did you mean \"server1/nic0\"?",
             "fabric.graph.links[3].to: there is no node `torr`; did you mean \"tor\"?"});
}

TEST_CASE("in a Clos network two oversubscriptions leave no cable whose bandwidth may be given") {
  TopologySpec made = clos(2, 2, 2, 4, 2);
  made.fabric.link_bandwidth = ByteRate{5};
  CHECK(complaints(made, 8) == Keys{});
  made.fabric.core_oversubscription = 2;
  CHECK(complaints(made, 8) == Keys{});
  made.fabric.oversubscription = 2;
  CHECK(complaints(made, 8) == Keys{"fabric.link_bandwidth"});
  made.fabric.core_oversubscription = 0;
  CHECK(complaints(made, 8) == Keys{});
}

TEST_CASE("what a custom fabric lists is a switch that belongs to no server and passes nothing on for GPUs") {
  const auto complaint = [](const GraphNode& node) {
    TopologySpec made = spec("custom");
    made.fabric.graph.nodes = {node};
    made.fabric.graph.links = {{"server0", node.name, {}, {}, true, 1}};
    return texts([&] { return build_topology(made, 1, 1); });
  };
  const Keys refused{"fabric.graph.nodes[0]: `x` is not a plain switch; a custom fabric lists switches only"};
  CHECK(complaint({"x", NodeKind::fabric_switch, {}, false}) == Keys{});
  CHECK(complaint({"x", NodeKind::nic, {}, false}) == refused);
  CHECK(complaint({"x", NodeKind::fabric_switch, 0, false}) == refused);
  CHECK(complaint({"x", NodeKind::fabric_switch, {}, true}) == refused);
}

TEST_CASE("a graph may list the whole network, and its faults are named") {
  const auto all_wrong = [] {
    GraphSpec graph;
    graph.nodes = {{"g", NodeKind::gpu, 0, false}, {"n", NodeKind::nic, 0, true}, {"g", NodeKind::gpu, 1, false}};
    graph.links = {{"g", "n", {}, {}, true, 1}};
    return build_graph(graph);
  };
  CHECK(texts(all_wrong) == Keys{"nodes[1].relay: `n` is not a GPU; all other nodes forward traffic anyway",
                                 "nodes[2]: the name `g` is taken", "links[0].bandwidth: g -> n: not given"});
}

TEST_CASE("the checks of a topology") {
  Topology topology;
  const NodeId a = topology.add_node("a", NodeKind::gpu, ServerId{0U});
  const NodeId b = topology.add_node("b", NodeKind::gpu, ServerId{2U});
  const NodeId c = topology.add_node("a", NodeKind::gpu);
  const NodeId d = topology.add_node("", NodeKind::fabric_switch, ServerId{2U});
  topology.add_link(a, b, ByteRate{0}, Time{});
  topology.add_link(b, c, ByteRate{std::numeric_limits<double>::infinity()}, Time::nanoseconds(-2));
  topology.add_link(d, d, ByteRate{1}, Time{});
  CHECK(texts([&] { topology.finish(); }) ==
        Keys{"node 3: has no name", "a: two nodes have this name", "a: a GPU outside the servers",
             "a switch of the fabric inside a server; inside a server it must be a bridge", "server 1: has no GPU",
             "a->b: a bandwidth of 0 bytes per second; it must be > 0",
             "b->a: a bandwidth of inf bytes per second; it must be > 0", "b->a: a latency of -2 ns; it must be >= 0",
             "->: a link from a node to itself"});
  Topology empty;
  CHECK(texts([&] { empty.finish(); }) == Keys{"servers: there is no GPU"});
}

TEST_CASE("pairs of GPUs without a path are named; no path leads through a GPU or a third server") {
  Topology topology;
  std::vector<NodeId> gpus;
  for (std::size_t i = 0; i < 3; ++i) {
    gpus.push_back(topology.add_node("gpu" + std::to_string(i), NodeKind::gpu, ServerId{std::size_t{0}}));
  }
  topology.add_cable(gpus[0], gpus[1], ByteRate{1}, Time{});
  topology.add_cable(gpus[1], gpus[2], ByteRate{1}, Time{});
  Topology relayed = topology;
  CHECK(texts([&] { topology.finish(); }) == Keys{"gpu0: no path to gpu2", "gpu2: no path to gpu0"});
  relayed.make_relay(gpus[1]);
  CHECK_NOTHROW(relayed.finish());

  Topology chain;  // three servers in a line
  for (std::size_t i = 0; i < 3; ++i) {
    chain.add_node("g" + std::to_string(i), NodeKind::gpu, ServerId{i});
    chain.add_node("n" + std::to_string(i), NodeKind::nic, ServerId{i});
    chain.add_cable(NodeId{2 * i}, NodeId{2 * i + 1}, ByteRate{1}, Time{});
  }
  chain.add_cable(NodeId{1U}, NodeId{3U}, ByteRate{1}, Time{});
  chain.add_cable(NodeId{3U}, NodeId{5U}, ByteRate{1}, Time{});
  CHECK(texts([&] { chain.finish(); }) == Keys{"g0: no path to g2", "g2: no path to g0"});
}

TEST_CASE("a number of a server beyond the number of nodes is refused") {
  GraphSpec graph;
  graph.nodes = {{"a", NodeKind::gpu, 0, false}, {"b", NodeKind::gpu, 1, false}};
  graph.links.push_back({"a", "b", ByteRate{1}, {}, true, 1});
  CHECK(texts([&] { return build_graph(graph); }).empty());
  graph.nodes[1].server = 2;
  CHECK(texts([&] { return build_graph(graph); }) ==
        Keys{"servers: the largest number is 2 but there are only 2 nodes"});
}
