// Tests the tables of kinds and the data that ship with them.

#include "network/collectives/hosted_servers.hpp"
#include "network/topologies/wan.hpp"
#include "tests/network/topology_kit.hpp"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

template <class Kinds>
void check_table(const Kinds& kinds) {
  std::set<std::string_view> names;
  for (const auto& kind : kinds) {
    CAPTURE(kind.name);
    CHECK(names.insert(kind.name).second);
    CHECK(!kind.summary.empty());
    CHECK(!kind.source.empty());
    std::set<std::string_view> parameters;
    for (const auto& parameter : kind.parameters) {
      CAPTURE(parameter.name);
      CHECK(parameters.insert(parameter.name).second);
      CHECK(!parameter.text.empty());
    }
  }
}

}  // namespace

TEST_CASE("kinds and their parameters have one name and a line of text") {
  check_table(fabric_kinds());
  check_table(server_kinds());
  CHECK(fabric_kinds().size() == 12);
  CHECK(server_kinds().size() == 30);
}

TEST_CASE("a parameter is read and written through its row, with the default of the spec") {
  FabricSpec fabric;
  int latencies = 0;
  for (const auto& kind : fabric_kinds()) {
    if (kind.name != "fat-tree") continue;
    for (const auto& parameter : kind.parameters) {
      if (parameter.name == "ports") fabric.*std::get<std::size_t FabricSpec::*>(parameter.field) = 6;
      if (parameter.name != "link_latency") continue;
      CHECK((fabric.*std::get<Time FabricSpec::*>(parameter.field)).ns() == 500);
      ++latencies;
    }
  }
  CHECK(latencies == 1);
  CHECK(fabric.ports == 6);
}

TEST_CASE("links between AWS regions have the measured rates and half the round trips, in each direction") {
  const WanMatrix wan = aws_regions();
  CHECK(wan.sites.size() == 10);
  TopologySpec made = spec("multi-cluster");
  made.fabric.sites = {"virginia", "oregon", "ireland"};
  const Topology topology = build_topology(made, 5, 1);
  const auto between = [&](const char* from, const char* to) {
    for (const LinkId link : topology.out(topology.find_node(from))) {
      const Link& it = topology.links()[link.index()];
      if (it.to == topology.find_node(to)) return std::pair{it.bandwidth.bytes_per_second() * 8 / 1e6, it.latency.ns()};
    }
    return std::pair{0.0, std::int64_t{0}};
  };
  // Oregon <- Virginia 67 ms / 790 Mbps; Virginia <- Oregon 67 / 1150; Virginia <- Ireland 67 / 1050, Ireland <-
  // Virginia 66 / 794.
  CHECK(between("virginia", "oregon") == std::pair{790.0, std::int64_t{33'500'000}});
  CHECK(between("oregon", "virginia") == std::pair{1150.0, std::int64_t{33'500'000}});
  CHECK(between("ireland", "virginia") == std::pair{1050.0, std::int64_t{33'500'000}});
  CHECK(between("virginia", "ireland") == std::pair{794.0, std::int64_t{33'000'000}});
  // Five servers on three sites: 2, 2, 1.
  CHECK(topology.out(topology.find_node("virginia")).size() == 2 + 2);
  CHECK(topology.out(topology.find_node("ireland")).size() == 1 + 2);
}

TEST_CASE("a router of a dragonfly has no more global links than ports for them, in use as evenly as possible") {
  // Routers with h = 2 ports to other groups, 4 to a group: 8 ports a group. With 2 groups all 8 lead to the other one,
  // with 3 four to each, with 4 two to each, which leaves two unused, with 9 one to each.
  for (const std::pair<int, int>& each : {std::pair{2, 8}, {3, 4}, {4, 2}, {9, 1}}) {
    const int groups = each.first, links = each.second;
    CAPTURE(groups);
    const Topology topology = build_topology(dragonfly(4, 2, 2), static_cast<std::size_t>(8 * groups), 1);
    const auto group_of = [&](NodeId node) {
      const std::string& name = topology.nodes()[node.index()].name;
      return name.substr(0, name.find('/'));
    };
    std::map<std::pair<std::string, std::string>, int> between;
    for (int group = 0; group < groups; ++group) {
      for (int router = 0; router < 4; ++router) {
        const NodeId node = topology.find_node("group" + std::to_string(group) + "/router" + std::to_string(router));
        int global = 0;
        for (const LinkId link : topology.out(node)) {
          const NodeId to = topology.links()[link.index()].to;
          if (topology.nodes()[to.index()].kind != NodeKind::fabric_switch || group_of(to) == group_of(node)) continue;
          ++global;
          ++between[{group_of(node), group_of(to)}];
        }
        CHECK(global <= 2);
      }
    }
    CHECK(between.size() == static_cast<std::size_t>(groups * (groups - 1)));
    for (const auto& [pair, count] : between) CHECK(count == links);
  }
}

TEST_CASE("the halves of a dumbbell differ by at most one server, and the left one is not the smaller") {
  for (const auto& [servers, left, right] : {std::tuple{1, 1, 0}, {4, 2, 2}, {5, 3, 2}}) {
    const Topology topology = build_topology(spec("dumbbell"), static_cast<std::size_t>(servers), 1);
    CHECK(topology.out(topology.find_node("left")).size() == static_cast<std::size_t>(left + 1));
    CHECK(topology.out(topology.find_node("right")).size() == static_cast<std::size_t>(right + 1));
  }
}

TEST_CASE("a custom fabric takes servers of any kind, whole or by NIC") {
  TopologySpec made = with_server(spec("custom"), "pcie", 2);
  made.fabric.link_bandwidth = ByteRate{4};
  made.fabric.graph.nodes = {{"a", NodeKind::fabric_switch, {}, false}, {"b", NodeKind::fabric_switch, {}, false}};
  made.fabric.graph.links = {{"server0", "a", {}, {}, true, 1},
                             {"server1/nic0", "a", {}, {}, true, 1},
                             {"server1/nic1", "b", ByteRate{3}, Time::nanoseconds(9), true, 1},
                             {"a", "b", {}, {}, true, 2}};
  const Topology topology = build_topology(made, 2, 4);
  const auto rates = [&](const char* name) {
    std::vector<double> all;
    for (const LinkId link : topology.out(topology.find_node(name))) {
      all.push_back(topology.links()[link.index()].bandwidth.bytes_per_second());
    }
    return all;
  };
  CHECK(rates("a") == std::vector<double>{10, 10, 10, 4, 4});
  CHECK(rates("b") == std::vector<double>{3, 4, 4});
}

TEST_CASE("NICs share the PCIe switches of the GPUs that the spec names") {
  TopologySpec made = with_server(spec("single-switch"), "pcie", 2);
  made.server.nic_near_gpu = {5, 0};
  const Topology topology = build_topology(made, 1, 8);
  const auto bridge_of = [&](const char* name) {
    const NodeId node = topology.find_node(name);
    for (const LinkId link : topology.out(node)) {
      const Node& other = topology.nodes()[topology.links()[link.index()].to.index()];
      if (other.kind == NodeKind::bridge) return other.name;
    }
    return std::string{};
  };
  CHECK(bridge_of("server0/nic0") == bridge_of("server0/gpu5"));
  CHECK(bridge_of("server0/nic1") == bridge_of("server0/gpu0"));
}

TEST_CASE("parameter servers send from the host's bridge, or from an interface where a server has none") {
  const auto kind_of_hosts = [](const TopologySpec& made) {
    const Topology topology = build_topology(made, 3, 4);
    const std::vector<NodeId> hosts = host_nodes(topology);
    REQUIRE(hosts.size() == 3);
    std::vector<NodeKind> kinds;
    for (std::size_t s = 0; s < hosts.size(); ++s) {
      const Node& host = topology.nodes()[hosts[s].index()];
      CHECK(host.server == ServerId{s});
      kinds.push_back(host.kind);
    }
    return kinds;
  };
  CHECK(kind_of_hosts(with_server(spec("single-switch"), "pcie", 2)) == std::vector<NodeKind>(3, NodeKind::bridge));
  CHECK(kind_of_hosts(spec("single-switch")) == std::vector<NodeKind>(3, NodeKind::nic));
}
