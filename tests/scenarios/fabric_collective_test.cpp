// Single collectives on the fabric of a scenario, against the schedule run by hand.

#include "scenarios/run/fabric_collective.hpp"

#include "network/collectives/collective_run.hpp"
#include "network/collectives/rank_order.hpp"
#include "network/collectives/stripes.hpp"
#include "scenarios/run/fabric.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <doctest/doctest.h>

using namespace contend;

namespace {

Scenario fabric_of(const char* server, std::size_t nics) {
  Scenario scenario;
  scenario.cluster.servers = 4;
  scenario.cluster.gpus_per_server = 8;
  scenario.network.fidelity = Fidelity::flow;
  scenario.network.nic = ByteRate{50e9};
  scenario.network.topology.server.kind = server;
  scenario.network.topology.server.nics = nics;
  return scenario;
}

}  // namespace

TEST_CASE("fabric collective: the schedule of the scenario's algorithm on the idle fabric") {
  Scenario scenario = fabric_of("nvswitch", 8);
  scenario.network.alpha = Time::microseconds(7);
  scenario.network.step_overhead = Time::microseconds(2);
  scenario.network.routing = Routing::shortest_path;
  const Topology topology = build_topology(scenario.cluster, scenario.network);
  const auto router = build_router(scenario.network, topology, scenario.seed);
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather}) {
    const std::vector<NodeId> order = topological_order(topology.gpus(), topology);
    CollectiveShape shape;
    shape.ranks = 32;
    shape.stripes = ring_stripes(order, topology);
    const CollectiveSchedule ring =
        expand_collective(find_collective_algorithm("ring", kind), kind, shape, Bytes{1 << 20}, StepForm::steady);
    const CollectiveRun run =
        run_collective(ring, order, topology, *router, {.overhead = scenario.network.step_overhead});
    const FabricCollective found = fabric_collective(scenario.cluster, scenario.network, scenario.failures,
                                                     scenario.seed, kind, Bytes{1 << 20}, {8, 8, 8, 8});
    CHECK(found.time == run.end + scenario.network.alpha);
    CHECK(found.algorithm == "ring");  // what `auto` chooses
  }
  // Fewer ranks: the first GPUs of the first servers. With one server nothing leaves it.
  const Time few = fabric_collective(scenario.cluster, scenario.network, scenario.failures, scenario.seed,
                                     CollectiveKind::all_reduce, Bytes{1 << 30}, {2, 2})
                       .time;
  const Time inside = fabric_collective(scenario.cluster, scenario.network, scenario.failures, scenario.seed,
                                        CollectiveKind::all_reduce, Bytes{1 << 30}, {4})
                          .time;
  CHECK(inside < few);
  // An algorithm that doesn't have the collective gives way to another one, whose name is the one that counts.
  scenario.network.collectives = "bruck";
  CHECK(fabric_collective(scenario.cluster, scenario.network, scenario.failures, scenario.seed,
                          CollectiveKind::all_gather, Bytes{1 << 20}, {8, 8})
            .algorithm == "bruck");
  CHECK(fabric_collective(scenario.cluster, scenario.network, scenario.failures, scenario.seed,
                          CollectiveKind::broadcast, Bytes{1 << 20}, {8, 8})
            .algorithm == "ring");
}

TEST_CASE("fabric collective: messages from each GPU to the next use both directions of every interface at once") {
  // 40e6 B at 0.8 ns/B, however many GPUs there are, and one start-up.
  const Scenario switched = parsed(
      "cluster: {servers: 8, gpus_per_server: 1}\n"
      "network: {fidelity: flow, nic: 10Gbps, alpha: 50us, fabric: {kind: single-switch, link_latency: 0s}, "
      "server: {kind: plain, pcie_latency: 0s}}\n");
  for (const int ranks : {2, 5, 8}) {
    const FabricCollective found =
        fabric_collective(switched.cluster, switched.network, switched.failures, switched.seed, std::nullopt,
                          Bytes{40'000'000}, std::vector<int>(static_cast<std::size_t>(ranks), 1));
    CHECK(found.time.ns() == 32'050'000);
    CHECK(found.algorithm.empty());
  }
}

TEST_CASE("fabric collective: what the cluster does not have") {
  const Scenario scenario = fabric_of("nvswitch", 8);
  const auto time = [&](const std::vector<int>& ranks) {
    return fabric_collective(scenario.cluster, scenario.network, scenario.failures, scenario.seed,
                             CollectiveKind::all_reduce, Bytes{1 << 20}, ranks)
        .time;
  };
  CHECK_THROWS_AS(static_cast<void>(time({8, 8, 8, 8, 8})), InputError);
  CHECK_THROWS_AS(static_cast<void>(time({9, 8})), InputError);
  CHECK_THROWS_AS(static_cast<void>(time({8, 0})), InputError);
  CHECK_THROWS_AS(static_cast<void>(time({1})), InputError);
}

TEST_CASE("fabric collective: the servers of a scenario as a machine of NCCL") {
  const auto plan = [](const NcclMachine& machine, int gpus, bool several) {
    return plan_channels(machine, gpus, several);
  };
  const Scenario fast = fabric_of("nvswitch", 8);
  const NcclMachine hopper = nccl_machine_of(fast.cluster, fast.network, GpuGeneration::hopper, CpuVendor::intel);
  const NcclMachine& preset = find_nccl_machine("dgx-h100");
  CHECK(plan(hopper, 8, false) == plan(preset, 8, false));
  CHECK(plan(hopper, 8, true) == plan(preset, 8, true));
  CHECK(plan_nvls_channels(hopper, 8, false) == plan_nvls_channels(preset, 8, false));
  CHECK(hopper.near_nics);
  Scenario cube = fabric_of("hybrid-cube-mesh", 1);
  cube.network.nic = ByteRate{12.5e9};
  cube.network.topology.server.pcie_bandwidth = ByteRate{15.754e9};
  const NcclMachine volta = nccl_machine_of(cube.cluster, cube.network, GpuGeneration::volta, CpuVendor::intel);
  CHECK(plan(volta, 8, false) == ChannelPlan{6, 20, 20});
  CHECK(plan(volta, 8, true) == ChannelPlan{1, 12, 12});
  CHECK_FALSE(volta.near_nics);
  Scenario slots = fabric_of("pcie", 1);
  slots.network.nic = ByteRate{1.25e9};
  slots.network.topology.server.pcie_bandwidth = ByteRate{15.754e9};
  const NcclMachine pcie = nccl_machine_of(slots.cluster, slots.network, GpuGeneration::volta, CpuVendor::intel);
  CHECK(plan(pcie, 8, false) == ChannelPlan{1, 10, 10});
  CHECK(plan(pcie, 8, true) == ChannelPlan{1, 1.2, 1.2});
  slots.network.topology.server.sockets = 1;
  CHECK(plan(nccl_machine_of(slots.cluster, slots.network, GpuGeneration::volta, CpuVendor::intel), 8, false) ==
        ChannelPlan{1, 12, 12});
}
