// The router that splits few flows: its routes, its loads, and collectives on it.

#include "network/collectives/algorithm.hpp"
#include "network/collectives/collective_run.hpp"
#include "network/routing/planned_routes.hpp"
#include "network/routing/rail_proxy.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/network/topology_kit.hpp"

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

std::vector<RoutedFlow> from_leaf_to_leaf(const Topology& topology, std::size_t flows) {
  std::vector<RoutedFlow> all;
  for (std::size_t i = 0; i < flows; ++i) all.push_back({topology.gpus()[i], topology.gpus()[8 + i], 0, 12});
  return all;
}

std::vector<double> bytes_by_link(const Topology& topology, const Router& router, std::span<const RoutedFlow> flows) {
  std::vector<Route> routes;
  router.route_together(flows, routes);
  std::vector<double> bytes(topology.links().size(), 0);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    for (const LinkShare& use : routes[i].links) bytes[use.link.index()] += use.share * flows[i].bytes;
  }
  return bytes;
}

Time run_time(const Topology& topology, const Router& router, const char* name, CollectiveKind kind, StepForm form) {
  CollectiveShape shape;
  shape.ranks = static_cast<int>(topology.gpus().size());
  const CollectiveSchedule schedule =
      expand_collective(find_collective_algorithm(name, kind), kind, shape, Bytes{160'000}, form);
  return run_collective(schedule, topology.gpus(), topology, router).end;
}

}  // namespace

TEST_CASE("ethereal: whole flows where they divide, and pieces for the rest, with the loads of spraying") {
  const Topology topology = build_topology(leaf_spine(8, 4), 16, 1);
  const auto router = make_ethereal_router(topology);
  const auto spraying = make_spraying_router(topology);
  CHECK(router->plans_together());
  CHECK_FALSE(spraying->plans_together());
  for (const std::size_t r : {4U, 1U, 2U, 3U, 6U}) {
    const std::vector<RoutedFlow> flows = from_leaf_to_leaf(topology, r);
    std::vector<Route> routes;
    router->route_together(flows, routes);
    std::size_t whole = 0;
    for (const Route& route : routes) {
      // GPU, interface, leaf and back are 4 links; each piece adds two.
      whole += route.links.size() == 6 ? 1U : 0U;
      CHECK(route.latency == Time::nanoseconds(2 * 150 + 4 * 500));
    }
    CHECK(whole == r / 4 * 4);
    const auto got = bytes_by_link(topology, *router, flows);
    const auto best = bytes_by_link(topology, *spraying, flows);
    for (std::size_t l = 0; l < got.size(); ++l) CHECK(got[l] == near(best[l]));
  }
}

TEST_CASE("ethereal: a spine that fails leaves the others, and a pair without a path has no route") {
  const Topology topology = build_topology(leaf_spine(8, 4), 16, 1);
  const auto router = make_ethereal_router(topology);
  const auto set_all = [&](NodeId node, bool up) {
    for (std::size_t l = 0; l < topology.links().size(); ++l) {
      if (topology.links()[l].from == node || topology.links()[l].to == node) router->set_link_up(LinkId{l}, up);
    }
  };
  const std::vector<RoutedFlow> flows = from_leaf_to_leaf(topology, 3);
  set_all(topology.find_node("spine2"), false);
  std::vector<Route> routes;
  router->route_together(flows, routes);
  for (const Route& route : routes) CHECK(route.links.size() == 6);  // three flows on three spines
  set_all(topology.find_node("server9/nic0"), false);
  router->route_together(flows, routes);
  CHECK(routes[1].links.empty());
  CHECK(routes[0].links.size() == 4 + 2 * 3);  // two flows are left, each in three pieces
  set_all(topology.find_node("server9/nic0"), true);
  router->route_together(flows, routes);
  CHECK(routes[1].links.size() == 6);
}

TEST_CASE("ethereal: collectives take as long as with spraying, without the collisions of hashing") {
  const Topology topology = build_topology(leaf_spine(4, 4), 16, 1);
  const auto ethereal = make_ethereal_router(topology);
  const auto spraying = make_spraying_router(topology);
  const auto ecmp = make_ecmp_router(topology, 1);
  for (const StepForm form : {StepForm::steady, StepForm::exact}) {
    const Time best = run_time(topology, *spraying, "pairwise", CollectiveKind::all_to_all, form);
    const Time planned = run_time(topology, *ethereal, "pairwise", CollectiveKind::all_to_all, form);
    const Time hashed = run_time(topology, *ecmp, "pairwise", CollectiveKind::all_to_all, form);
    CHECK(planned.to_seconds() == near(best.to_seconds(), 1e-9));
    CHECK(hashed.to_seconds() > 1.2 * best.to_seconds());
  }
  for (const StepForm form : {StepForm::steady, StepForm::exact}) {
    CHECK(run_time(topology, *ethereal, "ring", CollectiveKind::all_reduce, form).to_seconds() ==
          near(run_time(topology, *spraying, "ring", CollectiveKind::all_reduce, form).to_seconds(), 1e-9));
  }
}

TEST_CASE("ethereal: planned routes and proxies come first") {
  // A plan for one of four flows; the others are three for four spines.
  const Topology topology = build_topology(leaf_spine(8, 4), 16, 1);
  std::vector<RoutedFlow> flows = from_leaf_to_leaf(topology, 4);
  const std::vector<Demand> first{{flows[0].from, flows[0].to, 12}};
  std::vector<PlannedRoute> plan = plan_splits(topology, first);
  plan[0].paths.resize(1);
  plan[0].paths[0].share = 1;
  const auto planned = make_plan_router(topology, plan, make_ethereal_router(topology));
  CHECK(planned->plans_together());
  std::vector<Route> routes;
  planned->route_together(flows, routes);
  CHECK(routes[0].links.size() == 6);
  for (std::size_t i = 1; i < 4; ++i) CHECK(routes[i].links.size() == 4 + 2 * 4);

  // Two rails of two interfaces: from the first GPU of one server to the second of another over NVLink and the rail.
  const Topology rail = build_topology(rails(2, 2, 2), 4, 2);
  const auto proxies = make_rail_proxy_router(rail, make_ethereal_router(rail));
  const auto single = make_rail_proxy_router(rail, make_spraying_router(rail));
  const std::vector<RoutedFlow> across{{rail.gpus()[0], rail.gpus()[3], 0, 1}};
  const auto got = bytes_by_link(rail, *proxies, across);
  const auto expected = bytes_by_link(rail, *single, across);
  for (std::size_t l = 0; l < got.size(); ++l) CHECK(got[l] == near(expected[l]));
}

TEST_CASE("ethereal: too many shortest paths are refused with a way out") {
  const Topology topology = build_topology(torus({12, 12, 12}), 12 * 12 * 12, 1);
  const auto router = make_ethereal_router(topology);
  Route route;
  router->route(topology.gpus()[0], topology.gpus()[1], 0, route);
  CHECK(route.links.size() == 5);
  const NodeId far = topology.gpus()[6 + 12 * (6 + 12 * 6)];
  CHECK_THROWS_WITH_AS(router->route(topology.gpus()[0], far, 0, route),
                       doctest::Contains("ethereal lists all shortest paths of a pair"), InputError);
}
