// Tests the exact table of collisions of hashed flows, beside the figures of its generating function and beside the
// hash of the ECMP router on a leaf-spine.

#include "models/fabric/collisions.hpp"

#include "network/routing.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/network/topology_kit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

TEST_CASE("collisions of hashed flows: the exact table") {
  struct Row {
    int flows, links;
    double none, fullest, rate, used;
  };
  constexpr Row kRows[] = {{4, 4, 0.093750, 2.125000, 0.511719, 2.7344},
                           {8, 8, 0.002403, 2.597233, 0.409994, 5.2511},
                           {16, 8, 0, 4.201416, 0.248727, 7.0555},
                           {4, 8, 0.410156, 1.648438, 0.695475, 3.3105}};
  for (const Row& row : kRows) {
    CAPTURE(row.flows);
    CAPTURE(row.links);
    const FlowCollisions found = flow_collisions(row.flows, row.links);
    CHECK(found.none == near_absolute(row.none, 5e-7));
    CHECK(found.mean_fullest == near(row.fullest, 5e-7));
    CHECK(found.mean_rate == near(row.rate, 2e-6));
    CHECK(found.mean_links_used == near(row.used, 2e-5));
    CHECK(found.at_most.back() == 1);
  }
  CHECK(flow_collisions(3, 1).mean_fullest == near(3));
  CHECK(flow_collisions(1, 9).none == near(1));
  CHECK(flow_collisions(2, 10).none == near(0.9));
  CHECK(flow_collisions(64, 256).mean_fullest > flow_collisions(32, 256).mean_fullest);
}

TEST_CASE("the hash of the ECMP router collides as often as random choices do") {
  // Server i of the first leaf sends to server i of the second one: 8 flows on 8 uplinks, with other labels each time.
  constexpr std::size_t kFlows = 8;
  const Topology topology = build_topology(leaf_spine(kFlows, kFlows), 2 * kFlows, 1);
  const auto router = make_ecmp_router(topology, 1);
  const FlowCollisions exact = flow_collisions(kFlows, kFlows);
  const int rounds = effort(20'000);
  double fullest = 0, rate = 0, squares = 0;
  int none = 0;
  Route route;
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> flows_on(topology.links().size(), 0);
    int most = 0;
    for (std::size_t i = 0; i < kFlows; ++i) {
      router->route(topology.gpus()[i], topology.gpus()[kFlows + i], static_cast<std::uint64_t>(round), route);
      for (const auto& [link, share] : route.links) {
        const Link& it = topology.links()[link.index()];
        if (topology.nodes()[it.from.index()].server.valid() || topology.nodes()[it.to.index()].server.valid())
          continue;
        most = std::max(most, ++flows_on[link.index()]);
      }
    }
    fullest += most;
    squares += most * most;
    rate += 1.0 / most;
    none += most == 1 ? 1 : 0;
  }
  const double mean = fullest / rounds, error = std::sqrt((squares / rounds - mean * mean) / rounds);
  // One path has an uplink and a downlink of the same spine, so both have the same flows.
  CHECK(mean == near_absolute(exact.mean_fullest, 4 * error));
  CHECK(rate / rounds == near(exact.mean_rate, 0.02));
  CHECK(static_cast<double>(none) / rounds == near_absolute(exact.none, 4 * std::sqrt(exact.none / rounds)));
}

TEST_CASE("with one hash at all switches the second stage collides as if it had the links of the first one alone") {
  // The 16 servers of a pod of a k=8 fat-tree each send to one of another pod: 4 x 4 links lead to the cores.
  constexpr std::size_t kFlows = 16, kOtherPod = 64;
  const Topology topology = build_topology(fat_tree(8), 128, 1);
  std::vector<bool> leads_to_core(topology.links().size());
  for (std::size_t l = 0; l < topology.links().size(); ++l)
    leads_to_core[l] = topology.link_name(LinkId{l}).starts_with("pod0/agg") &&
                       topology.link_name(LinkId{l}).find("->core") != std::string::npos;
  REQUIRE(std::ranges::count(leads_to_core, true) == 16);
  for (const bool is_same : {false, true}) {
    const auto router = make_ecmp_router(topology, 1, is_same ? EcmpHash::same : EcmpHash::per_switch);
    const int rounds = effort(5'000);
    double fullest = 0, squares = 0;
    Route route;
    for (int round = 0; round < rounds; ++round) {
      std::vector<int> flows_on(topology.links().size(), 0);
      int most = 0;
      for (std::size_t i = 0; i < kFlows; ++i) {
        router->route(topology.gpus()[i], topology.gpus()[kOtherPod + i], static_cast<std::uint64_t>(round), route);
        for (const LinkShare& use : route.links)
          if (leads_to_core[use.link.index()]) most = std::max(most, ++flows_on[use.link.index()]);
      }
      fullest += most;
      squares += most * most;
    }
    fullest /= rounds;
    const double error = std::sqrt((squares / rounds - fullest * fullest) / rounds);
    CHECK(std::abs(fullest - flow_collisions(16, is_same ? 4 : 16).mean_fullest) < 4 * error);
  }
}
