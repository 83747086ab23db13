// Tests collectives executed as flows: their times equal the closed forms, bytes are conserved, and the steady form
// agrees with the execution step by step.

#include "network/collectives/collective_run.hpp"

#include "network/collectives/stripes.hpp"
#include "network/topologies/topology_spec.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/network/collectives_kit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using contend::test::all_cases;
using contend::test::CollectiveCase;

namespace {

/// Servers of one GPU behind a NIC of 1 byte/ns and a PCIe link that never limits. The path from GPU to GPU is PCIe,
/// NIC cable, NIC cable, PCIe: 2 x 150 + 2 x 500 = 1300 ns.
TopologySpec one_switch() {
  TopologySpec spec;
  spec.server.nic_bandwidth = ByteRate{1e9};
  return spec;
}
constexpr double kAlpha = 1300e-9;
constexpr double kBeta = 1e-9;

std::vector<NodeId> gpus_of(const Topology& topology) {
  return {topology.gpus().begin(), topology.gpus().end()};
}

CollectiveRun run_case(const CollectiveCase& each, Bytes bytes, StepForm form, const Topology& topology,
                       const Router& router, double gamma) {
  CollectiveOptions options;
  options.gamma = TimePerByte{gamma};
  const CollectiveSchedule schedule = expand_collective(*each.algorithm, each.kind, each.shape, bytes, form);
  return run_collective(schedule, gpus_of(topology), topology, router, options);
}

CollectiveCase ring_case(int ranks, CollectiveKind kind = CollectiveKind::all_reduce) {
  CollectiveCase each;
  each.algorithm = &find_collective_algorithm("ring", kind);
  each.kind = kind;
  each.shape.ranks = ranks;
  return each;
}

}  // namespace

TEST_CASE("executed on an idle switch every algorithm takes its closed form to the nanosecond, 2 to 64 ranks") {
  // `contend validate network` does all numbers between.
  CollectiveCosts costs;
  costs.flat = {kAlpha, kBeta};
  costs.gamma = 0.5e-9;
  std::size_t compared = 0;
  for (const int n : {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64}) {
    if (kSanitized && n > 17) break;
    const Topology topology = build_topology(one_switch(), static_cast<std::size_t>(n), 1);
    const auto router = make_shortest_path_router(topology);
    for (const CollectiveCase& each : all_cases(n)) {
      INFO(each.name());
      // All parts are whole bytes of 1 ns: no rounding at all.
      const Bytes bytes{test::divisible_bytes(each)};
      const double closed = collective_seconds(*each.algorithm, each.kind, each.shape, bytes, costs);
      const CollectiveRun run = run_case(each, bytes, StepForm::exact, topology, *router, 0.5);
      CHECK(run.end.ns() == std::llround(closed * 1e9));
      ++compared;
    }
  }
  CHECK(compared > 500);
}

TEST_CASE("sizes that are not divisible: above the closed form by less than a byte and a nanosecond per step") {
  CollectiveCosts costs;
  costs.flat = {kAlpha, 8e-9 / 3};
  TopologySpec spec = one_switch();
  spec.server.nic_bandwidth = ByteRate{3e9 / 8};
  for (const int n : {2, 3, 5, 7, 8, 12, 24}) {
    const Topology topology = build_topology(spec, static_cast<std::size_t>(n), 1);
    const auto router = make_shortest_path_router(topology);
    for (const CollectiveCase& each : all_cases(n)) {
      INFO(each.name());
      const Bytes bytes{1'000'003};
      const double closed = collective_seconds(*each.algorithm, each.kind, each.shape, bytes, costs) * 1e9;
      const CollectiveSchedule schedule = expand_collective(*each.algorithm, each.kind, each.shape, bytes);
      const CollectiveRun run = run_collective(schedule, gpus_of(topology), topology, *router);
      // A message that collects the blocks of a group, or a server that collects from all, may have one byte too much
      // for each of them.
      const double bytes_over = each.algorithm->name == "ring" ? 1 : n;
      const auto steps = static_cast<double>(schedule.step_count());
      CHECK(static_cast<double>(run.end.ns()) > closed - steps * 8 / 3 - 1);
      CHECK(static_cast<double>(run.end.ns()) <= closed + steps * (1 + bytes_over * 8 / 3));
    }
  }
}

TEST_CASE("two-level closed forms on servers of 4 GPUs behind an NVSwitch and one NIC") {
  // Inside: 2 bytes/ns and 100 ns through the NVSwitch. Between servers the NIC of 1 byte/ns is shared by the four GPUs
  // of the server: 4 ns per byte and GPU while all of them send; alone, as the leader is, 1 ns. The way is GPU,
  // NVSwitch, NIC, switch and back: 2 x (50 + 0 + 500) ns.
  GraphSpec graph;
  graph.nodes.push_back({"switch", NodeKind::fabric_switch, std::nullopt, false});
  const auto cable = [&](const std::string& a, const std::string& b, double bandwidth, std::int64_t latency) {
    graph.links.push_back({a, b, ByteRate{bandwidth}, Time::nanoseconds(latency), true, 1});
  };
  for (std::size_t server = 0; server < 3; ++server) {
    const std::string here = "server" + std::to_string(server);
    graph.nodes.push_back({here + "/nvswitch", NodeKind::bridge, server, false});
    graph.nodes.push_back({here + "/nic", NodeKind::nic, server, false});
    for (int gpu = 0; gpu < 4; ++gpu) {
      graph.nodes.push_back({here + "/gpu" + std::to_string(gpu), NodeKind::gpu, server, false});
      cable(graph.nodes.back().name, here + "/nvswitch", 2e9, 50);
    }
    cable(here + "/nvswitch", here + "/nic", 9e9, 0);
    cable(here + "/nic", "switch", 1e9, 500);
  }
  const Topology topology = build_graph(graph);
  const auto router = make_shortest_path_router(topology);
  CollectiveCosts costs;
  costs.gamma = 0.25e-9;
  const auto compare = [&](const char* name, CollectiveKind kind, double outer_beta) {
    costs.levels = {{100e-9, 0.5e-9}, {1100e-9, outer_beta}};
    CollectiveCase each;
    each.algorithm = &find_collective_algorithm(name, kind);
    each.kind = kind;
    each.shape.ranks = 12;
    each.shape.groups = {4, 3};
    const Bytes bytes{48'000};
    const double closed = collective_seconds(*each.algorithm, kind, each.shape, bytes, costs);
    for (const StepForm form : {StepForm::exact, StepForm::steady}) {
      INFO(name);
      CHECK(run_case(each, bytes, form, topology, *router, 0.25).end.ns() == std::llround(closed * 1e9));
    }
  };
  compare("hierarchical", CollectiveKind::all_reduce, 4e-9);
  compare("hierarchical-leader", CollectiveKind::all_reduce, 1e-9);
  compare("hierarchical-all-to-all", CollectiveKind::all_to_all, 4e-9);
}

TEST_CASE("a flat ring over two servers of 8 GPUs: the NIC carries 2(n-1)/n V with n GPUs, not servers") {
  TopologySpec spec = one_switch();
  spec.server.kind = "nvswitch";
  const Topology topology = build_topology(spec, 2, 8);
  const auto router = make_shortest_path_router(topology);
  const CollectiveRun run = run_case(ring_case(16), Bytes{16'000}, StepForm::exact, topology, *router, 0);
  double most = 0;
  for (std::size_t link = 0; link < run.carried.size(); ++link) {
    if (topology.nodes()[topology.links()[link].to.index()].kind == NodeKind::fabric_switch) {
      most = std::max(most, run.carried[link]);
    }
  }
  CHECK(most == near(2.0 * 15 / 16 * 16'000));
}

TEST_CASE("conservation: every link carries the bytes of its routes, and all bytes of the schedule arrive") {
  TopologySpec spec;
  spec.fabric.kind = "leaf-spine";
  spec.fabric.servers_per_leaf = 2;
  spec.fabric.spines = 2;
  spec.server.kind = "pcie";
  spec.server.nics = 2;
  const Topology topology = build_topology(spec, 6, 4);
  for (const auto& router :
       {make_shortest_path_router(topology), make_ecmp_router(topology, 7), make_spraying_router(topology)}) {
    for (const CollectiveCase& each : all_cases(24)) {
      INFO(each.name());
      const CollectiveSchedule schedule = expand_collective(*each.algorithm, each.kind, each.shape, Bytes{100'003});
      const CollectiveRun run = run_collective(schedule, gpus_of(topology), topology, *router, {.label = 3});
      std::vector<double> demanded(topology.links().size(), 0);
      Route route;
      for (const Step& step : schedule.steps) {
        for (const Send& send : step.sends) {
          router->route(topology.gpus()[static_cast<std::size_t>(send.from)],
                        topology.gpus()[static_cast<std::size_t>(send.to)], 3, route);
          for (const LinkShare& use : route.links) {
            demanded[use.link.index()] += use.share * static_cast<double>(send.range.bytes);
          }
        }
      }
      double from_gpus = 0;
      bool equal = true;
      for (std::size_t link = 0; link < demanded.size(); ++link) {
        equal = equal && std::abs(run.carried[link] - demanded[link]) <= 1e-9 * demanded[link];
        const Link& each_link = topology.links()[link];
        if (topology.nodes()[each_link.from.index()].kind == NodeKind::gpu) from_gpus += run.carried[link];
      }
      CHECK(equal);
      CHECK(from_gpus == near(static_cast<double>(schedule.bytes_sent())));
    }
  }
}

TEST_CASE("steady form of a ring: the nanosecond of the execution step by step on a symmetric fabric") {
  for (const int n : {2, 3, 8, 31, 64}) {
    INFO(n);
    const Topology topology = build_topology(one_switch(), static_cast<std::size_t>(n), 1);
    const auto router = make_shortest_path_router(topology);
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather}) {
      const CollectiveCase each = ring_case(n, kind);
      for (const std::int64_t bytes : {std::int64_t{1000} * n, std::int64_t{1000} * n + 1}) {
        const CollectiveRun exact = run_case(each, Bytes{bytes}, StepForm::exact, topology, *router, 0.5);
        const CollectiveRun steady = run_case(each, Bytes{bytes}, StepForm::steady, topology, *router, 0.5);
        // Reducing 1001 bytes takes 500.5 ns, rounded up in each step or in all together.
        const std::int64_t rounding = bytes % n == 0 ? 0 : n - 1;
        CHECK(exact.end.ns() - steady.end.ns() >= 0);
        CHECK(exact.end.ns() - steady.end.ns() <= rounding);
      }
    }
  }
}

TEST_CASE("steady form on an oversubscribed fabric and on uneven links, alone on it") {
  // Two servers a leaf and one spine with links of NIC speed: a ring in this bad order crosses every uplink twice, so
  // each step takes 2 ns a byte; all messages go through the spine and have the same latency, so the steady form is
  // exact. In the good order half of the messages stay below the leaf; the uplink carries one message and nothing is
  // slower than 1 ns, across the spine too: exact again. Of six hops in a row three go below a leaf.
  TopologySpec spec = one_switch();
  spec.fabric.kind = "leaf-spine";
  spec.fabric.servers_per_leaf = 2;
  spec.fabric.spines = 1;
  const Topology topology = build_topology(spec, 4, 1);
  const auto router = make_shortest_path_router(topology);
  const auto ends = [&](std::vector<std::size_t> order) {
    std::vector<NodeId> gpus;
    for (const std::size_t i : order) gpus.push_back(topology.gpus()[i]);
    const CollectiveCase each = ring_case(4);
    std::vector<std::int64_t> result;
    for (const StepForm form : {StepForm::exact, StepForm::steady}) {
      const CollectiveSchedule schedule =
          expand_collective(*each.algorithm, each.kind, each.shape, Bytes{40'000}, form);
      result.push_back(run_collective(schedule, gpus, topology, *router).end.ns());
    }
    return result;
  };
  const std::int64_t across = 2 * 150 + 4 * 500;
  CHECK(ends({0, 2, 1, 3}) == std::vector<std::int64_t>(2, 6 * (across + 20'000)));
  const std::int64_t below = 2 * 150 + 2 * 500;
  CHECK(ends({0, 1, 2, 3}) == std::vector<std::int64_t>(2, 3 * (below + across) + 6 * 10'000));
}

TEST_CASE("steady form of rings in any order on any fabric without latency: the execution step by step") {
  TopologySpec base = one_switch();
  base.server.pcie_latency = Time{};
  base.fabric.link_latency = Time{};
  base.fabric.link_bandwidth = ByteRate{0.7e9};
  std::vector<TopologySpec> specs(3, base);
  specs[0].fabric.kind = "leaf-spine";
  specs[0].fabric.servers_per_leaf = 4;
  specs[0].fabric.spines = 3;
  specs[1].fabric.kind = "torus";
  specs[1].fabric.dimensions = {3, 4};
  specs[2].fabric.kind = "dragonfly";
  specs[2].fabric.routers_per_group = 2;
  specs[2].fabric.servers_per_router = 2;
  specs[2].fabric.global_links = 1;
  for (const TopologySpec& spec : specs) {
    const Topology topology = build_topology(spec, 12, 2);
    const auto spraying = make_spraying_router(topology);
    const auto ecmp = make_ecmp_router(topology, 1);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      INFO(spec.fabric.kind, " order ", seed);
      RandomStream random{seed, "rank-order"};
      std::vector<NodeId> order = gpus_of(topology);
      random.shuffle(std::span{order});
      const CollectiveCase each = ring_case(24);
      for (const Router* router : {spraying.get(), ecmp.get()}) {
        std::vector<std::int64_t> ends;
        for (const StepForm form : {StepForm::exact, StepForm::steady}) {
          const CollectiveSchedule schedule =
              expand_collective(*each.algorithm, each.kind, each.shape, Bytes{240'000}, form);
          ends.push_back(run_collective(schedule, order, topology, *router).end.ns());
        }
        CHECK(ends[0] >= ends[1]);
        CHECK(ends[0] - ends[1] <= 46);  // each of 46 steps is rounded up
      }
    }
  }
}

TEST_CASE("steady form where the slowest message is not the one with the largest latency: too long by latency only") {
  // Four switches' worth of cables by hand: 0 -> 1 is narrow and near, 2 -> 3 wide and far.
  GraphSpec graph;
  for (std::size_t i = 0; i < 4; ++i) graph.nodes.push_back({"gpu" + std::to_string(i), NodeKind::gpu, i, false});
  const auto cable = [&](const char* from, const char* to, double bandwidth, std::int64_t latency) {
    graph.links.push_back({from, to, ByteRate{bandwidth}, Time::nanoseconds(latency), false, 1});
  };
  graph.nodes.push_back({"switch", NodeKind::fabric_switch, std::nullopt, false});
  cable("gpu0", "gpu1", 1e9, 0);
  cable("gpu2", "gpu3", 4e9, 700);
  for (const char* gpu : {"gpu0", "gpu1", "gpu2", "gpu3"}) {
    cable(gpu, "switch", 4e9, 0);
    cable("switch", gpu, 4e9, 0);
  }
  const Topology topology = build_graph(graph);
  const auto router = make_shortest_path_router(topology);
  const CollectiveCase each = ring_case(4);
  // Chunks of 1000 bytes: 1000 ns from 0 to 1, 250 + 700 from 2 to 3. Six hops in a row pass the latency twice at most.
  CHECK(run_case(each, Bytes{4000}, StepForm::exact, topology, *router, 0).end.ns() == 6 * 1000);
  CHECK(run_case(each, Bytes{4000}, StepForm::steady, topology, *router, 0).end.ns() == 6 * 1000 + 2 * 700);
}

TEST_CASE("a ring pays the way between servers once a turn for each server: as ranks that wait for their own data") {
  // A hop inside a server takes 1 us, one between servers 1000 us; the bytes take next to nothing.
  const auto run = [](std::size_t servers, std::size_t gpus, CollectiveKind kind, StepForm form, bool striped) {
    GraphSpec graph;
    graph.nodes.push_back({"switch", NodeKind::fabric_switch, std::nullopt, false});
    const auto cable = [&](const std::string& a, const std::string& b, std::int64_t latency) {
      graph.links.push_back({a, b, ByteRate{1e15}, Time::nanoseconds(latency), true, 1});
    };
    for (std::size_t server = 0; server < servers; ++server) {
      const std::string here = "server" + std::to_string(server);
      graph.nodes.push_back({here + "/nvswitch", NodeKind::bridge, server, false});
      for (std::size_t nic = 0; nic < (striped ? 2U : 1U); ++nic) {
        const std::string name = here + "/nic" + std::to_string(nic);
        graph.nodes.push_back({name, NodeKind::nic, server, false});
        cable(here + "/nvswitch", name, 0);
        cable(name, "switch", 499'500);
      }
      for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
        graph.nodes.push_back({here + "/gpu" + std::to_string(gpu), NodeKind::gpu, server, false});
        cable(graph.nodes.back().name, here + "/nvswitch", 500);
      }
    }
    const Topology topology = build_graph(graph);
    const auto router = make_shortest_path_router(topology);
    CollectiveCase each = ring_case(static_cast<int>(servers * gpus), kind);
    if (striped) each.shape.stripes = ring_stripes(topology.gpus(), topology);
    CHECK(each.shape.stripes.size() == (striped ? 2 : 0));
    return static_cast<double>(run_case(each, Bytes{256}, form, topology, *router, 0).end.ns()) / 1000;
  };
  const auto check = [&](std::size_t servers, std::size_t gpus, CollectiveKind kind, double expected) {
    if (kSanitized && servers * gpus > 32) return;
    for (const StepForm form : {StepForm::exact, StepForm::steady}) {
      for (const bool striped : {false, true}) {
        if (striped && gpus == 1) continue;
        INFO(servers, " x ", gpus, " striped ", striped);
        // Each message is rounded up to a nanosecond.
        CHECK(run(servers, gpus, kind, form, striped) == near(expected, 2e-5));
      }
    }
  };
  check(16, 8, CollectiveKind::all_reduce, 32222);
  check(16, 2, CollectiveKind::all_reduce, 31031);
  check(4, 4, CollectiveKind::all_reduce, 8022);
  check(16, 8, CollectiveKind::reduce_scatter, 16111);
  check(16, 8, CollectiveKind::all_gather, 16111);
  check(16, 1, CollectiveKind::all_reduce, 30000);
  CollectiveCosts costs;
  costs.flat = {1000e-6, 0};
  costs.levels = {{1e-6, 0}, {1000e-6, 0}};
  CollectiveShape shape;
  shape.ranks = 128;
  shape.groups = {8, 16};
  const auto& ring = find_collective_algorithm("ring", CollectiveKind::all_reduce);
  CHECK(collective_seconds(ring, CollectiveKind::all_reduce, shape, Bytes{1}, costs) == near(32222e-6));
}

TEST_CASE("a chain pays latency once for each hop, not for each chunk") {
  const Topology topology = build_topology(one_switch(), 5, 1);
  const auto router = make_shortest_path_router(topology);
  CollectiveCase each = ring_case(5, CollectiveKind::broadcast);
  each.shape.chunks = 20;
  // Chunks of 1000 bytes: 4 x (1300 + 1000), and 19 more chunks.
  for (const StepForm form : {StepForm::exact, StepForm::steady}) {
    CHECK(run_case(each, Bytes{20'000}, form, topology, *router, 0).end.ns() == 4 * (1300 + 1000) + 19 * 1000);
  }
  // Reducing at 0.5 ns a byte hides behind the next chunk, too; at 2 ns it is what the ranks wait for.
  each = ring_case(5, CollectiveKind::reduce);
  each.shape.chunks = 20;
  CHECK(run_case(each, Bytes{20'000}, StepForm::exact, topology, *router, 0.5).end.ns() ==
        4 * (1300 + 1000 + 500) + 19 * 1000);
  CHECK(run_case(each, Bytes{20'000}, StepForm::exact, topology, *router, 2).end.ns() ==
        4 * (1300 + 1000 + 2000) + 19 * 2000);
}

TEST_CASE("a ring all-reduce in steady form is one flow with one entry per link") {
  const Topology topology = build_topology(one_switch(), 8, 1);
  const auto router = make_shortest_path_router(topology);
  const CollectiveCase each = ring_case(8);
  const std::vector<CoupledFlow> flows = coupled_flows(
      expand_collective(*each.algorithm, each.kind, each.shape, Bytes{8000}, StepForm::steady), gpus_of(topology),
      topology, *router, {.gamma = TimePerByte{0.5}, .overhead = Time::nanoseconds(10)});
  REQUIRE(flows.size() == 1);
  CHECK(flows[0].bytes == 14 * 1000);
  CHECK(flows[0].fixed.ns() == 14 * (1300 + 10) + 7 * 500);
  REQUIRE(flows[0].links.size() == topology.links().size());
  for (const LinkShare& use : flows[0].links) CHECK(use.share == 1);
}

TEST_CASE("bidirectional ring: no gain behind one interface, twice as fast on a physical ring") {
  CollectiveCase each = ring_case(6);
  each.algorithm = &find_collective_algorithm("bidirectional-ring", CollectiveKind::all_reduce);
  TopologySpec spec;
  spec.fabric.kind = "ring";
  spec.fabric.link_bandwidth = ByteRate{1e9};
  const Topology topology = build_topology(spec, 6, 1);
  const auto router = make_shortest_path_router(topology);
  // 10 steps of 500 bytes each way; PCIe, NIC cable, cable of the ring, NIC cable, PCIe: 2 x 150 + 3 x 500 ns.
  CHECK(run_case(each, Bytes{6000}, StepForm::exact, topology, *router, 0).end.ns() == 10 * (1800 + 500));
  CollectiveCosts costs;
  costs.flat = {1800e-9, 1e-9};
  costs.two_ports = true;
  CHECK(collective_seconds(*each.algorithm, each.kind, each.shape, Bytes{6000}, costs) == near(23e-6));
  costs.two_ports = false;
  CHECK(collective_seconds(*each.algorithm, each.kind, each.shape, Bytes{6000}, costs) == near(28e-6));
}

TEST_CASE("point to point: latency, bytes, and nothing on other links") {
  const Topology topology = build_topology(one_switch(), 2, 1);
  const auto router = make_shortest_path_router(topology);
  const CollectiveRun run = run_collective(point_to_point(Bytes{5000}), gpus_of(topology), topology, *router);
  CHECK(run.end.ns() == 1300 + 5000);
  double sum = 0;
  for (const double bytes : run.carried) sum += bytes;
  CHECK(sum == near(4 * 5000));
}
