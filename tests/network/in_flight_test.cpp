// Tests messages that are no faster than what may be under way over their round trip.

#include "network/collectives/choice.hpp"
#include "network/flow_network.hpp"
#include "network/library/nccl_machine.hpp"
#include "tests/near.hpp"
#include "tests/network/flow_kit.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Two leaves of two servers at one spine: four links of 1 ms between servers of different leaves, two in a leaf. The
/// round trips are 8 ms and 4 ms.
TopologySpec long_fabric() {
  TopologySpec made = plain_fabric(leaf_spine(2, 1));
  made.fabric.link_latency = Time::milliseconds(1);
  return made;
}

/// When messages that start at once end, each from one of four GPUs to another.
std::vector<std::int64_t> ends_of(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs, std::int64_t bytes,
                                  double in_flight) {
  auto topology = std::make_unique<Topology>(build_topology(long_fabric(), 4, 1));
  auto router = make_shortest_path_router(*topology);
  FlowNetworkOptions options = ring_options();
  options.in_flight = in_flight;
  const auto network = make_flow_network(std::move(topology), std::move(router), options, pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::vector<GpuId> gpus{GpuId{pairs[i].first}, GpuId{pairs[i].second}};
    TransferRequest request;
    request.job = JobId{i};
    request.kind = OpKind::message;
    request.bytes = Bytes{bytes};
    request.ranks = 2;
    request.gpus = gpus;
    static_cast<void>(network->start(request, Time{}));
  }
  std::vector<std::int64_t> ends(pairs.size());
  for (std::size_t ended = 0; ended < pairs.size();) {
    const Time now = network->next_end();
    std::vector<TransferId> due;
    network->finish_due(now, due);
    for (const TransferId each : due) ends[each.index()] = now.ns();
    ended += due.size();
  }
  return ends;
}

using Ends = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a message takes its bytes over what may be under way, a round trip for each of these") {
  constexpr std::int64_t kMillisecond = 1'000'000, kMegabyte = 1'000'000;
  // 10 MB at 1 GB/s after 4 ms.
  CHECK(ends_of({{0, 2}}, 10 * kMegabyte, 0) == Ends{14 * kMillisecond});
  // 2 MB under way and 8 ms there and back: 250 MB/s.
  CHECK(ends_of({{0, 2}}, 10 * kMegabyte, 2e6) == Ends{44 * kMillisecond});
  // In the leaf the round trip is half as long: 500 MB/s after 2 ms.
  CHECK(ends_of({{0, 1}}, 10 * kMegabyte, 2e6) == Ends{22 * kMillisecond});
  // 8 MB are what the link holds; more changes nothing.
  CHECK(ends_of({{0, 2}}, 10 * kMegabyte, 8e6) == Ends{14 * kMillisecond});
  CHECK(ends_of({{0, 2}}, 10 * kMegabyte, 1e9) == Ends{14 * kMillisecond});
}

TEST_CASE("several messages share a long link that one of them can't fill") {
  constexpr std::int64_t kMillisecond = 1'000'000, kMegabyte = 1'000'000;
  // From leaf0 to leaf1 over one cable of 1 GB/s: two of 250 MB/s don't meet.
  CHECK(ends_of({{0, 2}, {1, 3}}, 10 * kMegabyte, 2e6) == Ends{44 * kMillisecond, 44 * kMillisecond});
  // Two of 6 MB could have 750 MB/s each and get 500.
  CHECK(ends_of({{0, 2}, {1, 3}}, 10 * kMegabyte, 6e6) == Ends{24 * kMillisecond, 24 * kMillisecond});
  // One with 250 MB/s leaves 750 of the interface to the other, which has 500 in the leaf.
  CHECK(ends_of({{0, 2}, {0, 1}}, 10 * kMegabyte, 2e6) == Ends{44 * kMillisecond, 22 * kMillisecond});
}

TEST_CASE("a ring goes at the pace of its longest hop, message by message, coupled, and as a library expects") {
  const Topology topology = build_topology(long_fabric(), 4, 1);
  const auto router = make_shortest_path_router(topology);
  CollectiveShape shape;
  shape.ranks = 4;
  const auto kind = CollectiveKind::all_gather;
  const CollectiveAlgorithm& ring = find_collective_algorithm("ring", kind);
  CollectiveOptions options;
  options.in_flight = 2e6;
  const auto flows_of = [&](const CollectiveSchedule& schedule) {
    return coupled_flows(schedule, topology.gpus(), topology, *router, options);
  };
  CollectiveSchedule steady = expand_collective(ring, kind, shape, Bytes{40'000'000}, StepForm::steady);
  // Three steps of 10 MB at 250 MB/s; a rank waits for hops of 2, 4, 2 and 4 ms in turn.
  std::vector<CoupledFlow> flows = flows_of(steady);
  REQUIRE(flows.size() == 1);
  CHECK(flows[0].bytes == 30e6);
  CHECK(flows[0].cap == near(250e6));
  CHECK(flows[0].fixed == Time::milliseconds(10));
  CHECK(run_collective(steady, topology.gpus(), topology, *router, options).end == Time::milliseconds(130));
  CHECK(seconds_on({topology.gpus(), topology, *router, options}, steady) == near(0.130));
  // Message by message: a step is as long as its slowest message, 40 ms and 4 ms of latency.
  const CollectiveAlgorithm& pairwise = find_collective_algorithm("pairwise", CollectiveKind::all_to_all);
  const CollectiveSchedule pairs =
      expand_collective(pairwise, CollectiveKind::all_to_all, shape, Bytes{40'000'000}, StepForm::exact);
  CHECK(run_collective(pairs, topology.gpus(), topology, *router, options).end == Time::milliseconds(3 * 44));
  // A library that expects 0.1 s gets 0.12 s, and one that expects 0.2 s gets these.
  for (const double expected_s : {0.1, 0.2}) {
    steady.expected = LibraryTime{Time::milliseconds(1), expected_s};
    flows = flows_of(steady);
    REQUIRE(flows.size() == 1);
    CHECK(flows[0].bytes / flows[0].cap == near(expected_s < 0.12 ? 0.12 : expected_s));
  }
  // What a closed form takes for a byte of the ring: 4 ns, in place of 1 ns.
  CHECK(probe_costs(topology.gpus(), {}, topology, *router, {}, {}, options).flat.beta == near(4e-9));
  CHECK(probe_costs(topology.gpus(), {}, topology, *router).flat.beta == near(1e-9));
}

TEST_CASE("NCCL has 4 MiB under way for each channel that it launches on an interface") {
  constexpr double kMiB = 1024.0 * 1024.0;
  CHECK(NcclLibrary{find_nccl_machine("dgx-a100")}.in_flight() == 8 * kMiB);
  CHECK(NcclLibrary{find_nccl_machine("pcie-v100-10g")}.in_flight() == 8 * kMiB);
  CHECK(NcclLibrary{find_nccl_machine("gb200-nvl72")}.in_flight() == 4 * kMiB);  // 72 interfaces of a domain
}
