// Planned routes in files: names to links, shares, and errors at their places.
#include "scenarios/run/route_plan.hpp"

#include "scenarios/run/fabric.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <doctest/doctest.h>

namespace contend {
namespace {

/// Four servers of one GPU on two leaves, two spines, two cables between each leaf and spine.
Topology two_leaves() {
  const Scenario scenario = parsed(
      "cluster: {servers: 4, gpus_per_server: 1}\n"
      "network:\n"
      "  fidelity: flow\n"
      "  fabric: {kind: leaf-spine, servers_per_leaf: 2, spines: 2, parallel_links: 2}\n");
  return build_topology(scenario.cluster, scenario.network);
}

std::string errors_of_plan(std::string_view text) {
  try {
    static_cast<void>(parse_route_plan(text, "r.yaml", two_leaves()));
  } catch (const InputError& error) {
    std::string all;
    for (Complaint d : error.complaints()) {
      d.source_line.clear();
      all += d.format() + "\n";
    }
    return all;
  }
  return {};
}

TEST_CASE("paths are lists of nodes") {
  const Topology topology = two_leaves();
  const auto plan = parse_route_plan(
      "- from: server0/gpu0\n"
      "  to: server2/gpu0\n"
      "  label: 3\n"
      "  paths:\n"
      "  - [server0/nic0, leaf0, spine0, leaf1, server2/nic0]\n"
      "  - [server0/nic0, leaf0, spine1#2, leaf1, server2/nic0]\n"
      "  shares: [0.75, 0.25]\n"
      "- {from: server0/gpu0, to: server1/gpu0, paths: [[server0/nic0, leaf0, server1/nic0]]}\n",
      "r.yaml", topology);
  REQUIRE(plan.size() == 2);
  CHECK(plan[0].from == topology.gpus()[0]);
  CHECK(plan[0].to == topology.gpus()[2]);
  CHECK(plan[0].label == 3);
  REQUIRE(plan[0].paths.size() == 2);
  REQUIRE(plan[0].paths[1].links.size() == 6);
  CHECK(topology.link_name(plan[0].paths[1].links[2]) == "leaf0->spine1#2");
  CHECK(topology.link_name(plan[0].paths[1].links[5]) == "server2/nic0->server2/gpu0");
  CHECK(plan[0].paths[1].share == 0.25);
  CHECK_FALSE(plan[1].label.has_value());
  CHECK(plan[1].paths[0].share == 1);
  // The router takes the plan as it is.
  Route route;
  const auto router = make_plan_router(topology, plan, make_shortest_path_router(topology));
  router->route(topology.gpus()[0], topology.gpus()[2], 3, route);
  CHECK(route.links.size() == 8);  // 6 hops each; the first two and the last two are common
}

TEST_CASE("bridges inside a server may be left out") {
  const Scenario bridged = parsed(
      "cluster: {servers: 2, gpus_per_server: 8}\nnetwork: {fidelity: flow, server: {kind: nvswitch, nics: 2}}\n");
  const Topology topology = build_topology(bridged.cluster, bridged.network);
  const auto plan = parse_route_plan(
      "- {from: server0/gpu0, to: server1/gpu7, paths: [[server0/nic1, switch0, server1/nic1]]}\n", "r.yaml", topology);
  Route route;
  const auto router = make_plan_router(topology, plan, make_shortest_path_router(topology));
  router->route(plan[0].from, plan[0].to, 0, route);
  std::string names;
  for (const LinkId link : plan[0].paths[0].links) names += topology.link_name(link) + " ";
  CAPTURE(names);
  CHECK(route.links.size() == plan[0].paths[0].links.size());
  // gpu0 hangs on the first socket and nic1 on the second, next to gpu7.
  CHECK(names.find("server0/gpu0->") == 0);
  CHECK(names.find("->server0/nic1 server0/nic1->switch0 switch0->server1/nic1 server1/nic1->") != std::string::npos);
  CHECK(names.find("nvswitch") == std::string::npos);
}

TEST_CASE("complaints name the places of mistakes") {
  CHECK(errors_of_plan("- {from: server0/gpu0, to: server2/gpu9, paths: [[server0/nic0, leaf0, leaf1, spine1#3]]}\n") ==
        "r.yaml:1:28: [0].to: the topology has no node server2/gpu9; did you mean \"server2/gpu0\"?\n"
        "r.yaml:1:72: [0].paths[0][2]: no link from leaf0 to leaf1\n"
        "r.yaml:1:79: [0].paths[0][3]: only 2 links from leaf1 to spine1\n");
  CHECK(errors_of_plan("- {from: server0/gpu0, to: server2/gpu0, paths: [], shares: [1]}\n") ==
        "r.yaml:1:49: [0].paths: expected at least one path\n"
        "r.yaml:1:61: [0].shares: expected 0 shares, one a path, got 1\n");
  CHECK(errors_of_plan("[{frm: a, to: b, paths: []}]") == "r.yaml:1:3: [0].frm: unknown key; did you mean \"from\"?\n");
  CHECK(errors_of_plan("a: b\n") == "r.yaml:1:1: expected a list of routes, got a map\n");
}

}  // namespace
}  // namespace contend
