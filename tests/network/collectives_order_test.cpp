// Tests rank orders that follow the fabric, the costs of other orders, and the automatic choice of an algorithm.

#include "network/collectives/choice.hpp"
#include "network/collectives/collective_run.hpp"
#include "network/collectives/rank_order.hpp"
#include "network/collectives/stripes.hpp"
#include "network/topologies/topology_spec.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::vector<NodeId> shuffled(std::span<const NodeId> gpus, std::size_t stride) {
  // A stride without common factor with the size visits all.
  std::vector<NodeId> order;
  for (std::size_t i = 0; i < gpus.size(); ++i) order.push_back(gpus[i * stride % gpus.size()]);
  return order;
}

std::vector<std::uint32_t> servers_of(const std::vector<NodeId>& order, const Topology& topology) {
  std::vector<std::uint32_t> servers;
  for (const NodeId gpu : order) {
    const std::uint32_t server = topology.nodes()[gpu.index()].server.value();
    if (servers.empty() || servers.back() != server) servers.push_back(server);
  }
  return servers;
}

Time ring_time(const std::vector<NodeId>& order, const Topology& topology, const Router& router, Bytes bytes) {
  CollectiveShape shape;
  shape.ranks = static_cast<int>(order.size());
  const CollectiveAlgorithm& ring = find_collective_algorithm("ring", CollectiveKind::all_reduce);
  return run_collective(expand_collective(ring, CollectiveKind::all_reduce, shape, bytes), order, topology, router).end;
}

}  // namespace

TEST_CASE("the order keeps the GPUs of a server, the servers of a leaf and the leaves of a pod together") {
  // Eight servers of two GPUs on four leaves in two pods, numbered so that neighbours in number are far apart: server s
  // is on leaf s mod 4, leaf l in pod l mod 2.
  GraphSpec graph;
  const auto cable = [&](const std::string& a, const std::string& b) {
    graph.links.push_back({a, b, ByteRate{1e9}, Time{}, true, 1});
  };
  graph.nodes.push_back({"core", NodeKind::fabric_switch, std::nullopt, false});
  for (int pod = 0; pod < 2; ++pod) {
    graph.nodes.push_back({"pod" + std::to_string(pod), NodeKind::fabric_switch, std::nullopt, false});
    cable("pod" + std::to_string(pod), "core");
  }
  for (int leaf = 0; leaf < 4; ++leaf) {
    graph.nodes.push_back({"leaf" + std::to_string(leaf), NodeKind::fabric_switch, std::nullopt, false});
    cable("leaf" + std::to_string(leaf), "pod" + std::to_string(leaf % 2));
  }
  for (std::size_t server = 0; server < 8; ++server) {
    const std::string here = "server" + std::to_string(server);
    graph.nodes.push_back({here + "/nic", NodeKind::nic, server, false});
    cable(here + "/nic", "leaf" + std::to_string(server % 4));
    for (const char* gpu : {"/gpu0", "/gpu1"}) {
      graph.nodes.push_back({here + gpu, NodeKind::gpu, server, false});
      cable(here + gpu, here + "/nic");
    }
  }
  const Topology topology = build_graph(graph);
  const std::vector<NodeId> order = topological_order(shuffled(topology.gpus(), 5), topology);
  CHECK(servers_of(order, topology) == std::vector<std::uint32_t>{0, 4, 2, 6, 1, 5, 3, 7});
  CHECK(level_sizes(order, topology) == std::vector<int>{2, 8});
}

TEST_CASE("levels: unequal shares, split servers and one GPU per server are one level") {
  TopologySpec spec;
  const Topology topology = build_topology(spec, 3, 4);
  const std::span<const NodeId> gpus = topology.gpus();
  const auto levels = [&](std::vector<std::size_t> chosen) {
    std::vector<NodeId> order;
    for (const std::size_t gpu : chosen) order.push_back(gpus[gpu]);
    return level_sizes(order, topology);
  };
  CHECK(levels({0, 1, 4, 5, 8, 9}) == std::vector<int>{2, 3});
  CHECK(levels({0, 1, 4}) == std::vector<int>{3});
  CHECK(levels({0, 4, 1, 5}) == std::vector<int>{4});
  CHECK(levels({0, 4, 8}) == std::vector<int>{3});
  CHECK(levels({0, 1, 2, 3}) == std::vector<int>{4});
}

TEST_CASE("inside a hybrid cube mesh the ring runs over double NVLinks") {
  TopologySpec spec;
  spec.server.kind = "hybrid-cube-mesh";
  const Topology topology = build_topology(spec, 1, 8);
  const std::vector<NodeId> order = topological_order(topology.gpus(), topology);
  CHECK(order.front() == topology.gpus().front());
  double narrowest = INFINITY;
  for (std::size_t i = 0; i < 8; ++i) {
    double width = 0;
    for (const LinkId link : topology.out(order[i])) {
      const Link& cable = topology.links()[link.index()];
      if (cable.to == order[(i + 1) % 8]) width += cable.bandwidth.bytes_per_second();
    }
    narrowest = std::min(narrowest, width);
  }
  CHECK(narrowest == 50e9);
  // In order of id some neighbours have no cable at all (0..3, then 3 to 4 over PCIe).
  const auto router = make_shortest_path_router(topology);
  const std::vector<NodeId> by_id{topology.gpus().begin(), topology.gpus().end()};
  CHECK(ring_time(by_id, topology, *router, Bytes::mebibytes(64)) >
        ring_time(order, topology, *router, Bytes::mebibytes(64)));
}

TEST_CASE("a bad order on two servers of 8 GPUs: the NICs carry eight messages instead of one") {
  // Through the NIC a message alone takes 1 ns a byte, each of eight takes 8; NVLink never limits.
  TopologySpec spec;
  spec.server.kind = "nvswitch";
  spec.server.nic_bandwidth = ByteRate{1e9};
  const Topology topology = build_topology(spec, 2, 8);
  const auto router = make_shortest_path_router(topology);
  const std::vector<NodeId> good = topological_order(topology.gpus(), topology);
  std::vector<NodeId> alternating;
  for (std::size_t i = 0; i < 8; ++i) {
    alternating.push_back(topology.gpus()[i]);
    alternating.push_back(topology.gpus()[8 + i]);
  }
  CHECK(topological_order(alternating, topology) == good);
  const Bytes bytes = Bytes::mebibytes(160);
  const double ratio = ring_time(alternating, topology, *router, bytes).to_seconds() /
                       ring_time(good, topology, *router, bytes).to_seconds();
  CHECK(ratio == near(8, 0.001));
}

TEST_CASE("the topological order is never slower than a random one on an oversubscribed leaf-spine") {
  TopologySpec spec;
  spec.fabric.kind = "leaf-spine";
  spec.fabric.servers_per_leaf = 4;
  spec.fabric.spines = 1;
  spec.fabric.oversubscription = 4;
  const Topology topology = build_topology(spec, 16, 1);
  const auto router = make_shortest_path_router(topology);
  const Bytes bytes = Bytes::mebibytes(16);
  const Time good = ring_time(topological_order(topology.gpus(), topology), topology, *router, bytes);
  double worst = 1;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream random{seed, "rank-order"};
    std::vector<NodeId> order{topology.gpus().begin(), topology.gpus().end()};
    random.shuffle(std::span{order});
    const Time time = ring_time(order, topology, *router, bytes);
    CHECK(time >= good);
    worst = std::max(worst, time.to_seconds() / good.to_seconds());
  }
  CHECK(worst > 2);
}

TEST_CASE("probed costs: by hand on servers of 4 GPUs behind one NIC") {
  TopologySpec spec;
  spec.server.kind = "nvswitch";
  spec.server.nic_bandwidth = ByteRate{10e9};
  const Topology topology = build_topology(spec, 2, 4);
  const auto router = make_shortest_path_router(topology);
  const std::vector<NodeId> order = topological_order(topology.gpus(), topology);
  const std::vector<int> levels = level_sizes(order, topology);
  const StepOverhead none{Time{}, Time{}};
  const CollectiveCosts costs = probe_costs(order, levels, topology, *router, none);
  CHECK(costs.flat.beta == near(1 / 10e9));  // one message on the NIC
  REQUIRE(costs.levels.size() == 2);
  CHECK(costs.levels[0].beta == near(1 / 450e9));  // NVLink
  CHECK(costs.levels[1].beta == near(4 / 10e9));   // four on the NIC
  CHECK(costs.of_leaders(1).beta == near(1 / 10e9));
  CHECK(costs.of_leaders(0).beta == near(1 / 450e9));
  CHECK(!costs.two_ports);
  const CollectiveCosts with = probe_costs(order, levels, topology, *router);
  CHECK(with.flat.alpha - costs.flat.alpha == near(14e-6));
  CHECK(with.levels[0].alpha - costs.levels[0].alpha == near(3.4e-6));
}

TEST_CASE("closed forms with probed costs predict the runs of hierarchical algorithms over three levels") {
  // Two leaves of two servers of two GPUs; a spine half as fast as the NICs.
  TopologySpec spec;
  spec.server.kind = "plain";
  spec.server.nic_bandwidth = ByteRate{1e9};
  spec.fabric.kind = "leaf-spine";
  spec.fabric.servers_per_leaf = 2;
  spec.fabric.spines = 1;
  spec.fabric.link_bandwidth = ByteRate{0.5e9};
  const Topology topology = build_topology(spec, 4, 2);
  const auto router = make_shortest_path_router(topology);
  const std::vector<NodeId> order = topological_order(topology.gpus(), topology);
  CollectiveShape shape;
  shape.ranks = 8;
  shape.groups = {2, 2, 2};
  const StepOverhead overhead{Time::nanoseconds(300), Time::nanoseconds(300)};
  const CollectiveCosts costs = probe_costs(order, shape.groups, topology, *router, overhead);
  CollectiveOptions options;
  options.overhead = Time::nanoseconds(300);
  for (const char* name : {"hierarchical", "hierarchical-leader", "ring"}) {
    INFO(name);
    const CollectiveAlgorithm& algorithm = find_collective_algorithm(name, CollectiveKind::all_reduce);
    const Bytes bytes{64'000};
    const CollectiveRun run =
        run_collective(expand_collective(algorithm, CollectiveKind::all_reduce, shape, bytes, StepForm::steady), order,
                       topology, *router, options);
    CHECK(run.end.to_seconds() ==
          near(collective_seconds(algorithm, CollectiveKind::all_reduce, shape, bytes, costs), 1e-5));
  }
}

TEST_CASE("probed costs: a physical ring has two ports") {
  TopologySpec spec;
  spec.fabric.kind = "ring";
  spec.fabric.link_bandwidth = ByteRate{1e9};
  const Topology topology = build_topology(spec, 6, 1);
  const auto router = make_shortest_path_router(topology);
  CHECK(probe_costs(topology.gpus(), {}, topology, *router).two_ports);
}

TEST_CASE("auto: trees for small messages, rings for large ones, by the closed forms") {
  CollectiveCosts costs;
  costs.flat = {14e-6, 1 / 12.5e9};
  CollectiveShape shape;
  shape.ranks = 64;
  const auto chosen = [&](std::int64_t bytes) {
    return plan_collective("auto", CollectiveKind::all_reduce, shape, Bytes{bytes}, costs).algorithm->name;
  };
  CHECK(chosen(1024) == "double-binary-tree");
  CHECK(chosen(4'000'000'000) == "ring");
  for (const std::int64_t bytes : {100L, 10'000L, 1'000'000L, 100'000'000L, 10'000'000'000L}) {
    const CollectivePlan best = plan_collective("auto", CollectiveKind::all_reduce, shape, Bytes{bytes}, costs);
    for (const char* name : {"ring", "double-binary-tree"}) {
      CHECK(best.seconds <= plan_collective(name, CollectiveKind::all_reduce, shape, Bytes{bytes}, costs).seconds);
    }
  }
}

TEST_CASE("auto on a fabric takes the candidate whose run is fastest, and predicts its time") {
  std::vector<std::pair<TopologySpec, std::size_t>> fabrics;
  TopologySpec spec;
  spec.fabric.kind = "leaf-spine";
  spec.fabric.servers_per_leaf = 4;
  spec.fabric.spines = 2;
  for (const double oversubscription : {0.0, 2.0, 8.0}) {
    spec.fabric.oversubscription = oversubscription;
    spec.server = {};
    fabrics.emplace_back(spec, 1);
    spec.server.kind = "nvswitch";
    for (const std::size_t nics : {1U, 8U}) {
      spec.server.nics = nics;
      fabrics.emplace_back(spec, 8);
    }
  }
  std::set<std::string_view> chosen;
  for (const auto& each : fabrics) {
    const TopologySpec& made = each.first;
    const Topology topology = build_topology(made, 16, each.second);
    const auto router = make_ecmp_router(topology, 1);
    const std::vector<NodeId> order = topological_order(topology.gpus(), topology);
    CollectiveShape shape;
    shape.ranks = static_cast<int>(order.size());
    shape.groups = level_sizes(order, topology);
    shape.stripes = ring_stripes(order, topology);
    const Time overhead = Time::microseconds(14);
    const CollectiveCosts costs =
        probe_costs(order, shape.groups, topology, *router, {overhead, overhead}, shape.stripes);
    const IdleFabric fabric{order, topology, *router, {.overhead = overhead}};
    const auto run = [&](const CollectivePlan& plan, Bytes bytes) {
      const auto schedule =
          expand_collective(*plan.algorithm, CollectiveKind::all_reduce, plan.shape, bytes, StepForm::steady);
      return run_collective(schedule, order, topology, *router, fabric.options).end.to_seconds();
    };
    for (const std::int64_t size : {10'000L, 1'000'000L, 30'000'000L, 1'000'000'000L}) {
      INFO(made.fabric.oversubscription, " ", made.server.nics, " ", size);
      const Bytes bytes{size};
      const CollectivePlan ours = choose_on_fabric(CollectiveKind::all_reduce, shape, bytes, costs, fabric);
      chosen.insert(ours.algorithm->name);
      const double taken = run(ours, bytes);
      CHECK(ours.seconds == near(taken, 0.02));
      for (const std::string_view name : auto_candidates(CollectiveKind::all_reduce)) {
        const CollectiveAlgorithm& other = find_collective_algorithm(name, CollectiveKind::all_reduce);
        if (!other.refusal(CollectiveKind::all_reduce, shape).empty()) continue;
        INFO(name, " instead of ", ours.algorithm->name);
        CHECK(taken <= 1.05 * run(plan_collective(name, CollectiveKind::all_reduce, shape, bytes, costs), bytes));
      }
    }
  }
  CHECK(chosen.size() == 3);
}

TEST_CASE("auto: candidates can be named; one that refuses the shape is skipped") {
  CollectiveCosts costs;
  costs.flat = {1e-6, 1e-9};
  CollectiveShape shape;
  shape.ranks = 6;
  const std::string_view both[] = {"halving-doubling", "bruck"};
  CHECK(plan_collective("auto", CollectiveKind::all_gather, shape, Bytes{600}, costs, both).algorithm->name == "bruck");
  const std::string_view first[] = {"halving-doubling"};
  CHECK_THROWS_AS(
      static_cast<void>(plan_collective("auto", CollectiveKind::all_gather, shape, Bytes{600}, costs, first)),
      InputError);
  CHECK_THROWS_AS(
      static_cast<void>(plan_collective("halving-doubling", CollectiveKind::all_gather, shape, Bytes{600}, costs)),
      InputError);
  CHECK_THROWS_AS(static_cast<void>(plan_collective("otto", CollectiveKind::all_gather, shape, Bytes{600}, costs)),
                  InputError);
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
        CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_to_all, CollectiveKind::exchange}) {
    CHECK(plan_collective("auto", kind, shape, Bytes{600}, costs).seconds > 0);
  }
}

TEST_CASE("chunks of pipelined algorithms: no other number is faster") {
  CollectiveCosts costs;
  costs.flat = {2e-6, 1e-9};
  for (const auto& [name, kind] :
       {std::pair{"ring", CollectiveKind::broadcast}, std::pair{"double-binary-tree", CollectiveKind::all_reduce}}) {
    for (const int ranks : {3, 8, 50}) {
      CollectiveShape shape;
      shape.ranks = ranks;
      const Bytes bytes{1'000'000};
      const CollectivePlan plan = plan_collective(name, kind, shape, bytes, costs);
      for (const int chunks : {1, 2, 3, 5, 10, 20, 50, 100, 500}) {
        shape.chunks = chunks;
        // The optimum is rounded to a whole number.
        CHECK(plan.seconds <= collective_seconds(*plan.algorithm, kind, shape, bytes, costs) * 1.02);
      }
    }
  }
}
