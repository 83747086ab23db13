// Tests the router that follows a plan, the complaints about wrong plans, and the planner that splits few flows.

#include "network/routing/planned_routes.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"
#include "tests/network/topology_kit.hpp"

#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

LinkId link(const Topology& topology, const std::string& name) {
  for (std::size_t i = 0; i < topology.links().size(); ++i) {
    if (topology.link_name(LinkId{i}) == name) return LinkId{i};
  }
  return LinkId::none();
}

PlannedPath path(const Topology& topology, const std::vector<std::string>& names, double share = 1) {
  PlannedPath made{{}, share};
  for (const std::string& name : names) made.links.push_back(link(topology, name));
  return made;
}

/// From server0 to server1, on different leaves, over the given spine.
PlannedPath over(const Topology& topology, const std::string& spine, double share = 1) {
  return path(topology,
              {"server0/gpu0->server0/nic0", "server0/nic0->leaf0", "leaf0->" + spine, spine + "->leaf1",
               "leaf1->server1/nic0", "server1/nic0->server1/gpu0"},
              share);
}

std::vector<std::string> reasons(const Topology& topology, std::vector<PlannedRoute> plan) {
  std::vector<std::string> all;
  try {
    const auto router = make_plan_router(topology, std::move(plan), make_shortest_path_router(topology));
  } catch (const InputError& error) {
    for (const Complaint& complaint : error.complaints()) all.push_back(complaint.format());
  }
  return all;
}

double share_on(const Route& route, LinkId wanted) {
  double share = 0;
  for (const LinkShare& it : route.links) share += it.link == wanted ? it.share : 0;
  return share;
}

/// Bytes on every link.
std::vector<double> loads(const Topology& topology, const Router& router, std::span<const Demand> demands) {
  std::vector<double> load(topology.links().size(), 0);
  std::map<std::pair<NodeId, NodeId>, std::uint64_t> labels;
  Route route;
  for (const Demand& demand : demands) {
    router.route(demand.from, demand.to, labels[{demand.from, demand.to}]++, route);
    for (const auto& [id, share] : route.links) load[id.index()] += share * demand.bytes;
  }
  return load;
}

std::size_t splits(const std::vector<PlannedRoute>& plan) {
  return std::accumulate(plan.begin(), plan.end(), std::size_t{0},
                         [](std::size_t sum, const PlannedRoute& route) { return sum + route.paths.size() - 1; });
}

/// Every link carries what ideal spraying puts on it.
void check_optimal(const Topology& topology, const std::vector<PlannedRoute>& plan, std::span<const Demand> demands) {
  const auto planned = make_plan_router(topology, plan, make_shortest_path_router(topology));
  const auto spraying = make_spraying_router(topology);
  const std::vector<double> got = loads(topology, *planned, demands);
  const std::vector<double> best = loads(topology, *spraying, demands);
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == near(best[i]));
}

}  // namespace

TEST_CASE("a plan is followed, label by label, and other flows go elsewhere") {
  const Topology topology = build_topology(leaf_spine(1, 3), 2, 1);
  const NodeId a = topology.gpus()[0];
  const NodeId b = topology.gpus()[1];
  const auto router = make_plan_router(topology,
                                       {{a, b, 5, {over(topology, "spine1", 0.25), over(topology, "spine2", 0.75)}},
                                        {a, b, {}, {over(topology, "spine2")}}},
                                       make_shortest_path_router(topology));
  Route route;
  router->route(a, b, 5, route);
  CHECK(route.links.size() == 8);
  CHECK(share_on(route, link(topology, "leaf0->spine1")) == 0.25);
  CHECK(share_on(route, link(topology, "spine2->leaf1")) == 0.75);
  CHECK(share_on(route, link(topology, "server0/nic0->leaf0")) == 1);
  // 500 ns on each of four fabric cables, 150 ns on each of two inside the servers.
  CHECK(route.latency.ns() == 2300);
  router->route(a, b, 6, route);
  CHECK(share_on(route, link(topology, "leaf0->spine2")) == 1);
  router->route(b, a, 5, route);
  CHECK(share_on(route, link(topology, "leaf1->spine0")) == 1);

  // A path that is down leaves its bytes to the others; when none is left the fallback takes over.
  router->set_link_up(link(topology, "leaf0->spine1"), false);
  router->route(a, b, 5, route);
  CHECK(share_on(route, link(topology, "leaf0->spine2")) == 1);
  router->set_link_up(link(topology, "spine2->leaf1"), false);
  router->route(a, b, 5, route);
  CHECK(share_on(route, link(topology, "leaf0->spine0")) == 1);
  router->set_link_up(link(topology, "spine0->leaf1"), false);
  router->route(a, b, 5, route);
  CHECK(route.links.empty());
  router->set_link_up(link(topology, "leaf0->spine1"), true);
  router->route(a, b, 5, route);
  CHECK(share_on(route, link(topology, "spine1->leaf1")) == 1);
}

TEST_CASE("all mistakes of a plan are reported, with the place and the names") {
  const Topology topology = build_topology(leaf_spine(2, 2), 4, 1);
  const auto gpu = [&](std::size_t i) { return topology.gpus()[i]; };
  const PlannedPath right = path(topology, {"server0/gpu0->server0/nic0", "server0/nic0->leaf0", "leaf0->server1/nic0",
                                            "server1/nic0->server1/gpu0"});
  CHECK(reasons(topology, {{gpu(0), gpu(1), {}, {right}}}).empty());

  PlannedPath gap = right;
  gap.links.erase(gap.links.begin() + 1);
  PlannedPath late = right;
  late.links.erase(late.links.begin());
  PlannedPath short_one = right;
  short_one.links.pop_back();
  PlannedPath unknown = right;
  unknown.links[1] = LinkId{9999U};
  const PlannedPath circle = path(topology, {"server0/gpu0->server0/nic0", "server0/nic0->leaf0", "leaf0->spine0",
                                             "spine0->leaf0", "leaf0->server1/nic0", "server1/nic0->server1/gpu0"});
  const std::vector<std::string> found =
      reasons(topology, {{gpu(0), gpu(0), {}, {right}},
                         {gpu(0), gpu(1), {}, {gap}},
                         {gpu(0), gpu(1), 1, {late}},
                         {gpu(0), gpu(1), 2, {short_one}},
                         {gpu(0), gpu(1), 3, {unknown}},
                         {gpu(0), gpu(1), 4, {circle}},
                         {gpu(0), gpu(1), 5, {PlannedPath{right.links, 0.5}}},
                         {gpu(0), gpu(1), 6, {}},
                         {gpu(0), gpu(1), 6, {right}},
                         {gpu(0), gpu(1), 7, {PlannedPath{{}, 1}}},
                         {gpu(0), gpu(1), 8, {PlannedPath{right.links, -1}, PlannedPath{right.links, 2}}}});
  CHECK(found == std::vector<std::string>{
                     "plan[0]: a route joins two different GPUs",
                     "plan[1].paths[0]: a gap: server0/nic0 is reached, but leaf0->server1/nic0 comes next",
                     "plan[2].paths[0]: server0/nic0->leaf0 does not start at server0/gpu0",
                     "plan[3].paths[0]: ends at server1/nic0, not at server1/gpu0",
                     "plan[4].paths[0]: there is no link 9999", "plan[5].paths[0]: a cycle: leaf0 is visited twice",
                     "plan[6]: the shares add up to 0.5, not to 1", "plan[7]: the shares add up to 0, not to 1",
                     "plan[9].paths[0]: there are no links", "plan[10].paths[0]: the share must be > 0, got -1",
                     "plan[8]: the same flow as plan[7]"});
}

TEST_CASE("a plan may not lead through a GPU or a third server") {
  GraphSpec graph;
  for (const std::size_t server : {0U, 1U, 2U}) {
    const std::string name = "s" + std::to_string(server);
    graph.nodes.push_back({name + "gpu", NodeKind::gpu, server, false});
    graph.nodes.push_back({name + "nic", NodeKind::nic, server, false});
    graph.links.push_back({name + "gpu", name + "nic", ByteRate{1}, {}, true, 1});
  }
  graph.links.push_back({"s0nic", "s1nic", ByteRate{1}, {}, true, 1});
  graph.links.push_back({"s1nic", "s2nic", ByteRate{1}, {}, true, 1});
  graph.links.push_back({"s2nic", "s0nic", ByteRate{1}, {}, true, 1});
  const Topology topology = build_graph(graph);
  const std::vector<std::string> found =
      reasons(topology, {{topology.gpus()[0],
                          topology.gpus()[2],
                          {},
                          {path(topology, {"s0gpu->s0nic", "s0nic->s1nic", "s1nic->s2nic", "s2nic->s2gpu"})}}});
  CHECK(found == std::vector<std::string>{"plan[0].paths[0]: s1nic does not forward traffic of other nodes"});
}

TEST_CASE("flows of one size between two leaves: whole where they divide, else as few equal pieces as the rule says") {
  // r flows of 12 bytes from servers of leaf 0 to servers of leaf 1 over s = 4 spines: r mod 4 flows are cut into
  // 4 / gcd(r mod 4, 4) pieces, and every uplink carries 12 r / 4.
  for (const auto& [r, pieces_of_split, split_flows] :
       {std::tuple{4U, 0U, 0U}, {8U, 0U, 0U}, {1U, 4U, 1U}, {2U, 2U, 2U}, {3U, 4U, 3U}, {6U, 2U, 2U}, {7U, 4U, 3U}}) {
    const Topology topology = build_topology(leaf_spine(8, 4), 16, 1);
    std::vector<Demand> demands;
    for (std::size_t i = 0; i < r; ++i) demands.push_back({topology.gpus()[i], topology.gpus()[8 + i], 12});
    const std::vector<PlannedRoute> plan = plan_splits(topology, demands);
    std::size_t split = 0;
    for (const PlannedRoute& route : plan) {
      if (route.paths.size() == 1) continue;
      ++split;
      CHECK(route.paths.size() == pieces_of_split);
    }
    CHECK(split == split_flows);
    check_optimal(topology, plan, demands);
    const auto router = make_plan_router(topology, plan, make_shortest_path_router(topology));
    const auto load = loads(topology, *router, demands);
    for (const char* spine : {"spine0", "spine1", "spine2", "spine3"}) {
      CHECK(load[link(topology, std::string{"leaf0->"} + spine).index()] == near(3.0 * r));
    }
  }
}

TEST_CASE("flows of several sizes: the optimum with less than one split per path and group") {
  RandomStream stream{5, "demands"};
  std::size_t cuts = 0;
  for (int round = 0; round < 40; ++round) {
    const auto spines = static_cast<std::size_t>(stream.uniform_integer(1, 7));
    const Topology topology = build_topology(round % 4 == 3 ? fat_tree(6) : leaf_spine(4, spines), 16, 1);
    std::vector<Demand> demands;
    for (int i = 0; i < 60; ++i) {
      const auto from = static_cast<std::size_t>(stream.uniform_integer(0, 15));
      const auto step = static_cast<std::size_t>(stream.uniform_integer(1, 15));
      const double bytes = static_cast<double>(stream.uniform_integer(1, 1000)) * (i % 5 == 0 ? 1e9 : 1);
      demands.push_back({topology.gpus()[from], topology.gpus()[(from + step) % 16], bytes});
    }
    const std::vector<PlannedRoute> plan = plan_splits(topology, demands);
    check_optimal(topology, plan, demands);
    // 12 ordered pairs of different leaves, each with at most n - 1 cuts.
    if (round % 4 != 3) CHECK(splits(plan) <= 12 * (spines - 1));
    cuts += splits(plan);
  }
  CHECK(cuts > 100);
}

TEST_CASE("a size whose flows divide does not keep those that are left from being cut equally") {
  // Three spines. Three flows of 1 byte take a path each; two of 5 bytes are cut into thirds, not wrapped around.
  const Topology topology = build_topology(leaf_spine(8, 3), 16, 1);
  std::vector<Demand> demands;
  for (std::size_t i = 0; i < 5; ++i)
    demands.push_back({topology.gpus()[i], topology.gpus()[8 + i], i < 3 ? 1.0 : 5.0});
  const std::vector<PlannedRoute> plan = plan_splits(topology, demands);
  for (std::size_t i = 0; i < 3; ++i) CHECK(plan[i].paths.size() == 1);
  for (std::size_t i = 3; i < 5; ++i) {
    REQUIRE(plan[i].paths.size() == 3);
    for (const PlannedPath& each : plan[i].paths) CHECK(each.share == near(1.0 / 3));
  }
  check_optimal(topology, plan, demands);
}

TEST_CASE("flows of several sizes are laid end to end, and one that ends at a cut is not cut") {
  const Topology topology = build_topology(leaf_spine(8, 2), 16, 1);
  const auto shares = [&](const std::vector<double>& sizes) {
    std::vector<Demand> demands;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      demands.push_back({topology.gpus()[i], topology.gpus()[8 + i], sizes[i]});
    std::vector<std::vector<double>> all;
    for (const PlannedRoute& route : plan_splits(topology, demands)) {
      all.emplace_back();
      for (const PlannedPath& each : route.paths) all.back().push_back(each.share);
    }
    return all;
  };
  using Shares = std::vector<std::vector<double>>;
  // 1 + 2 bytes on one path, 3 on the other.
  CHECK(shares({1, 2, 3}) == Shares{{1}, {1}, {1}});
  // Ten bytes are cut at 5: 1 + 2 and two of the seven, then five of the seven.
  const Shares cut = shares({1, 2, 7});
  REQUIRE(cut[2].size() == 2);
  CHECK(cut[0].size() + cut[1].size() == 2);
  CHECK(cut[2][0] == near(2.0 / 7));
  CHECK(cut[2][1] == near(5.0 / 7));
}

TEST_CASE("an all-to-all between equal leaves needs no split; invalid demands are refused") {
  // 4 servers a leaf, 4 spines: 16 flows between two leaves.
  const Topology topology = build_topology(leaf_spine(4, 4), 12, 1);
  std::vector<Demand> demands;
  for (const NodeId from : topology.gpus()) {
    for (const NodeId to : topology.gpus()) {
      if (from != to) demands.push_back({from, to, 1e6});
    }
  }
  const std::vector<PlannedRoute> plan = plan_splits(topology, demands);
  CHECK(splits(plan) == 0);
  check_optimal(topology, plan, demands);
  demands = {{topology.gpus()[0], topology.gpus()[1], 0}, {topology.gpus()[0], topology.gpus()[1], -1}};
  CHECK_THROWS_AS(static_cast<void>(plan_splits(topology, demands)), InputError);
}

TEST_CASE("a pair may have 65,536 shortest paths and no more") {
  // Switches in a row, two cables between neighbours: every stage doubles the number of paths.
  const auto row_of = [](std::size_t stages) {
    GraphSpec graph;
    graph.nodes = {{"a", NodeKind::gpu, 0, false}, {"b", NodeKind::gpu, 1, false}};
    for (std::size_t i = 0; i <= stages; ++i) {
      graph.nodes.push_back({"s" + std::to_string(i), NodeKind::fabric_switch, {}, false});
      if (i > 0)
        graph.links.push_back({"s" + std::to_string(i - 1), "s" + std::to_string(i), ByteRate{1}, {}, true, 2});
    }
    graph.links.push_back({"a", "s0", ByteRate{1}, {}, true, 1});
    graph.links.push_back({"b", "s" + std::to_string(stages), ByteRate{1}, {}, true, 1});
    return build_graph(graph);
  };
  const auto plan_of = [](const Topology& topology) {
    return plan_splits(topology, std::vector<Demand>{{topology.gpus()[0], topology.gpus()[1], 1}});
  };
  const std::vector<PlannedRoute> plan = plan_of(row_of(16));
  CHECK(plan.at(0).paths.size() == 65'536);
  const Topology larger = row_of(17);
  CHECK_THROWS_WITH_AS(static_cast<void>(plan_of(larger)), doctest::Contains("more than 65,536 shortest paths"),
                       InputError);
}
