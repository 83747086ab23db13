// Tests stripes: rings that use every interface of a server, and routes that stay in a rail.

#include "network/collectives/stripes.hpp"

#include "network/collectives/choice.hpp"
#include "network/collectives/collective_run.hpp"
#include "network/collectives/rank_order.hpp"
#include "network/idle_interfaces.hpp"
#include "network/routing/rail_proxy.hpp"
#include "tests/near.hpp"
#include "tests/network/collectives_kit.hpp"
#include "tests/network/topology_kit.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Two servers of 8 GPUs with 8 interfaces of 50 GB/s each.
TopologySpec eight_rails(bool rail_optimised, std::size_t per_pcie_switch = 2) {
  TopologySpec made = rails(32, 8, 8);
  if (!rail_optimised) made.fabric.kind = "leaf-spine";
  made.server.nic_bandwidth = ByteRate{50e9};
  made.server.gpus_per_pcie_switch = per_pcie_switch;
  return made;
}

CollectiveShape shape_on(const std::vector<NodeId>& order, const Topology& topology) {
  CollectiveShape shape;
  shape.ranks = static_cast<int>(order.size());
  shape.groups = level_sizes(order, topology);
  shape.stripes = ring_stripes(order, topology);
  return shape;
}

/// Bytes that leave servers by each interface, in order of its name.
std::vector<double> sent_by_interface(const CollectiveRun& run, const Topology& topology) {
  std::vector<double> sent;
  for (std::size_t i = 0; i < topology.links().size(); ++i) {
    const Link& link = topology.links()[i];
    const Node& from = topology.nodes()[link.from.index()];
    if (from.kind == NodeKind::nic && topology.nodes()[link.to.index()].server != from.server)
      sent.push_back(run.carried[i]);
  }
  return sent;
}

double carried_by_spines(const CollectiveRun& run, const Topology& topology) {
  double sum = 0;
  for (std::size_t i = 0; i < topology.links().size(); ++i) {
    const Link& link = topology.links()[i];
    const bool between =
        !topology.nodes()[link.from.index()].server.valid() && !topology.nodes()[link.to.index()].server.valid();
    if (between) sum += run.carried[i];
  }
  return sum;
}

}  // namespace

TEST_CASE("stripes by hand: 4 GPUs, two below each PCIe switch with two interfaces") {
  TopologySpec made = rails(2, 1, 4);
  const Topology topology = build_topology(made, 2, 4);
  const std::vector<NodeId> order = topological_order(topology.gpus(), topology);
  // Stripe 0 enters at GPU 0 and leaves at GPU 1, which is near interface 0, too; stripe 1 the other way round.
  const std::vector<std::vector<int>> expected{
      {0, 3, 2, 1, 4, 7, 6, 5}, {1, 2, 3, 0, 5, 6, 7, 4}, {2, 1, 0, 3, 6, 5, 4, 7}, {3, 0, 1, 2, 7, 4, 5, 6}};
  CHECK(ring_stripes(order, topology) == expected);
  // Each PCIe switch with one GPU: always forwards.
  made.server.gpus_per_pcie_switch = 1;
  const Topology apart = build_topology(made, 2, 4);
  CHECK(ring_stripes(apart.gpus(), apart)[1] == std::vector<int>{1, 2, 3, 0, 5, 6, 7, 4});
  CHECK(ring_stripes(apart.gpus(), apart)[0] == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("no stripes in one server, with one interface a server, or if the order splits servers") {
  const Topology topology = build_topology(rails(2, 1, 4), 2, 4);
  const auto gpus = topology.gpus();
  CHECK(ring_stripes(gpus.first(4), topology).empty());
  CHECK(ring_stripes(std::vector<NodeId>{gpus[0], gpus[4]}, topology).empty());
  CHECK(ring_stripes(std::vector<NodeId>{gpus[0], gpus[4], gpus[1], gpus[5]}, topology).empty());
  const Topology one = build_topology(with_server(spec("single-switch"), "nvswitch", 1), 2, 8);
  CHECK(ring_stripes(one.gpus(), one).empty());
}

TEST_CASE("a server with fewer GPUs of the job uses its interfaces in turn") {
  const Topology topology = build_topology(rails(2, 1, 4), 2, 4);
  const auto gpus = topology.gpus();
  const std::vector<NodeId> order{gpus[0], gpus[1], gpus[2], gpus[6], gpus[7]};
  const auto stripes = ring_stripes(order, topology);
  REQUIRE(stripes.size() == 3);
  CHECK(stripes[0][3] == 3);
  CHECK(stripes[1][3] == 4);
  CHECK(stripes[2][3] == 3);
}

TEST_CASE("rings use all 8 interfaces equally, and stay in their rails") {
  constexpr double kBytes = 512e6;
  for (const bool rail_optimised : {false, true}) {
    for (const std::size_t per_switch : {1U, 2U, 4U}) {
      CAPTURE(rail_optimised);
      CAPTURE(per_switch);
      const Topology topology = build_topology(eight_rails(rail_optimised, per_switch), 2, 8);
      const auto router = make_rail_proxy_router(topology, make_ecmp_router(topology, 1));
      const std::vector<NodeId> order = topological_order(topology.gpus(), topology);
      const CollectiveShape shape = shape_on(order, topology);
      for (const char* name : {"ring", "bidirectional-ring"}) {
        const CollectiveAlgorithm& algorithm = find_collective_algorithm(name, CollectiveKind::all_reduce);
        for (const StepForm form : {StepForm::exact, StepForm::steady}) {
          const auto schedule =
              expand_collective(algorithm, CollectiveKind::all_reduce, shape, Bytes{512'000'000}, form);
          const CollectiveRun run = run_collective(schedule, order, topology, *router);
          for (const double sent : sent_by_interface(run, topology)) CHECK(sent == near(2 * 15.0 / 16 * kBytes / 8));
          if (rail_optimised) CHECK(carried_by_spines(run, topology) == 0);
          // 2 x 15/16 of 512 MB over 8 x 50 GB/s, and latencies of microseconds.
          CHECK(run.end.to_seconds() > 2.4e-3);
          CHECK(run.end.to_seconds() < 2.5e-3);
        }
      }
    }
  }
}

TEST_CASE("the other collectives on stripes: every rank has its data, and the interfaces carry equal parts") {
  const Topology topology = build_topology(eight_rails(true), 3, 8);
  const auto router = make_rail_proxy_router(topology, make_ecmp_router(topology, 1));
  const std::vector<NodeId> order = topological_order(topology.gpus(), topology);
  const CollectiveShape shape = shape_on(order, topology);
  const auto most_sent = [&](CollectiveKind kind, CollectiveShape with, int chunks) {
    with.chunks = chunks;
    const auto schedule = expand_collective(find_collective_algorithm("ring", kind), kind, with, Bytes{24'000'000});
    return std::ranges::max(sent_by_interface(run_collective(schedule, order, topology, *router), topology));
  };
  CollectiveShape single = shape;
  single.stripes.clear();
  CHECK(most_sent(CollectiveKind::reduce_scatter, shape, 1) == near(23.0 / 24 * 3e6));
  CHECK(most_sent(CollectiveKind::all_gather, shape, 1) == near(23.0 / 24 * 3e6));
  CHECK(most_sent(CollectiveKind::reduce_scatter, single, 1) == near(23.0 / 24 * 24e6));
  // A chain goes around the ring of its stripe from the root, and crosses each interface once at most.
  for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
    CHECK(most_sent(kind, shape, 10) == near(3e6));
    CHECK(most_sent(kind, single, 10) == near(24e6));
  }
}

TEST_CASE("a stripe that is not an order of the ranks is an error") {
  CollectiveShape shape;
  shape.ranks = 3;
  shape.stripes = {{0, 1, 2}, {0, 1, 1}, {0, 1}};
  const auto& ring = find_collective_algorithm("ring", CollectiveKind::all_reduce);
  try {
    static_cast<void>(expand_collective(ring, CollectiveKind::all_reduce, shape, Bytes{10}));
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(error.complaints().size() == 2);
  }
}

TEST_CASE("between rails data go by NVLink to the GPU of the other rail; over PCIe they do not") {
  for (const std::string kind : {"nvswitch", "pcie"}) {
    CAPTURE(kind);
    TopologySpec made = eight_rails(true, 1);
    made.server.kind = kind;
    const Topology topology = build_topology(made, 2, 8);
    const auto direct = make_ecmp_router(topology, 1);
    const auto router = make_rail_proxy_router(topology, make_ecmp_router(topology, 1));
    Route by_proxy;
    Route plain;
    const auto gpus = topology.gpus();
    for (std::size_t from = 0; from < 8; ++from) {
      for (std::size_t to = 8; to < 16; ++to) {
        router->route(gpus[from], gpus[to], 9, by_proxy);
        direct->route(gpus[from], gpus[to], 9, plain);
        std::set<std::string> passed;
        for (const LinkShare& use : by_proxy.links)
          passed.insert(topology.nodes()[topology.links()[use.link.index()].to.index()].name);
        const std::string own = "leaf" + std::to_string(to - 8);
        CHECK(passed.contains(own));
        if (kind == "nvswitch") {
          CHECK(passed.contains("server0/nic" + std::to_string(to - 8)));
          CHECK(passed.contains("server0/nvswitch0") == (from != to - 8));
          CHECK(std::ranges::none_of(passed, [](const std::string& name) { return name.starts_with("spine"); }));
        } else {
          CHECK(by_proxy.links.size() == plain.links.size());
          CHECK(by_proxy.latency == plain.latency);
        }
      }
    }
    router->route(gpus[1], gpus[9], 9, plain);
    router->route(gpus[1], gpus[0], 9, by_proxy);
    CHECK(by_proxy.links.size() == (kind == "nvswitch" ? 2 : 4));
  }
}

TEST_CASE("probed costs of stripes are the costs of the run") {
  for (const bool rail_optimised : {false, true}) {
    const Topology topology = build_topology(eight_rails(rail_optimised), 4, 8);
    const auto router = make_rail_proxy_router(topology, make_ecmp_router(topology, 1));
    const std::vector<NodeId> order = topological_order(topology.gpus(), topology);
    const CollectiveShape shape = shape_on(order, topology);
    const CollectiveCosts costs = probe_costs(order, shape.groups, topology, *router, {Time{}, Time{}}, shape.stripes);
    CHECK(costs.flat.beta == near(1 / 400e9));
  }
}

TEST_CASE("interfaces of the job's GPUs that carry nothing beside others of their server are idle") {
  const Topology topology = build_topology(rails(2, 1, 4), 2, 4);
  const auto router = make_shortest_path_router(topology);
  const auto gpus = topology.gpus();
  const auto used_by = [&](const std::vector<std::pair<std::size_t, std::size_t>>& messages) {
    std::vector<LinkId> used;
    Route route;
    for (const auto& [from, to] : messages) {
      router->route(gpus[from], gpus[to], 0, route);
      for (const LinkShare& use : route.links) used.push_back(use.link);
    }
    return idle_interfaces(topology, used);
  };
  const auto nic = [&](const std::string& name) { return topology.find_node(name); };
  // A ring through GPUs 0 and 1 of both servers that uses one interface each.
  CHECK(used_by({{0, 1}, {1, 5}, {5, 4}, {4, 0}}).empty());
  CHECK(used_by({{0, 1}, {0, 4}, {4, 5}, {4, 0}}) == std::vector{nic("server0/nic1"), nic("server1/nic1")});
  // GPUs 2 and 3 have no part in it; a job inside a server uses no interface at all.
  CHECK(used_by({{0, 4}, {4, 0}}).empty());
  CHECK(used_by({{0, 1}, {1, 2}}).empty());
}
