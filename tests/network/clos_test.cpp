// Tests which fabrics are leaves and spines, and that a router keeps jobs on the spines that they have to themselves.

#include "network/clos.hpp"

#include "network/routing/planning.hpp"
#include "tests/near.hpp"
#include "tests/network/flow_kit.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

constexpr std::size_t kClosOnLeaf = 4, kClosSpines = 3;

RoutedJob job_to(const Topology& topology, std::uint64_t label, const std::vector<std::size_t>& from) {
  RoutedJob made{label, 1, {}};
  for (const std::size_t gpu : from)
    made.flows.push_back({topology.gpus()[gpu], topology.gpus()[kClosOnLeaf + gpu], label, 100});
  return made;
}

std::set<std::string> spines_of(const Topology& topology, const Router& router, const RoutedJob& job) {
  std::set<std::string> spines;
  for (const RoutedFlow& flow : job.flows) {
    Route route;
    router.route(flow.from, flow.to, flow.label, route);
    for (const LinkShare& use : route.links) {
      const Node& to = topology.nodes()[topology.links()[use.link.index()].to.index()];
      if (to.name.starts_with("spine")) spines.insert(to.name);
    }
  }
  return spines;
}

}  // namespace

TEST_CASE("clos: a fabric of leaves and spines, and its rates") {
  const Topology topology = build_topology(plain_fabric(leaf_spine(kClosOnLeaf, kClosSpines)), 10, 2);
  const std::optional<ClosFabric> fabric = clos_of(topology);
  REQUIRE(fabric);
  CHECK(fabric->leaves == 3);
  CHECK(fabric->leaf == std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2});
  REQUIRE(fabric->spines.size() == kClosSpines);
  CHECK(topology.nodes()[fabric->spines[2].index()].name == "spine2");
  CHECK(fabric->server_rate == near(kByteANanosecond));
  CHECK(fabric->uplink_rate == near(kByteANanosecond));
  TopologySpec two = plain_fabric(leaf_spine(kClosOnLeaf, kClosSpines));
  two.server.kind = "nvswitch";
  two.server.nics = 2;
  CHECK(clos_of(build_topology(plain_fabric(two), 8, 2))->server_rate == near(2 * kByteANanosecond));
  CHECK(!clos_of(build_topology(plain_fabric(rails(kClosOnLeaf, kClosSpines, 2)), 8, 2)));
  CHECK(!clos_of(build_topology(plain_fabric(fat_tree(4)), 16, 2)));
  CHECK(!clos_of(build_topology(plain_fabric(spec("single-switch")), 4, 2)));
}

TEST_CASE("planned paths keep a job on its own spines as long as their links work") {
  const Topology topology = build_topology(plain_fabric(leaf_spine(kClosOnLeaf, kClosSpines)), 2 * kClosOnLeaf, 1);
  const ClosFabric fabric = *clos_of(topology);
  const auto reserved = std::make_shared<ReservedSpines>();
  reserved->of_job[7] = {fabric.spines[2]};
  reserved->of_job[8] = {fabric.spines[0], fabric.spines[1]};
  const auto router = make_planning_router(topology, {}, reserved);
  const RoutedJob one = job_to(topology, 7, {0, 1}), two = job_to(topology, 8, {2, 3}),
                  three = job_to(topology, 9, {2});
  router->enter(one);
  router->enter(two);
  CHECK(spines_of(topology, *router, one) == std::set<std::string>{"spine2"});
  CHECK(spines_of(topology, *router, two) == std::set<std::string>{"spine0", "spine1"});
  router->enter(three);  // without spines of its own it takes the emptiest
  CHECK(spines_of(topology, *router, three) == std::set<std::string>{"spine0"});
  for (std::size_t l = 0; l < topology.links().size(); ++l)
    if (topology.links()[l].to == fabric.spines[2]) router->set_link_up(LinkId{l}, false);
  router->plan();
  CHECK(!spines_of(topology, *router, one).contains("spine2"));
  CHECK(!spines_of(topology, *router, one).empty());
}
