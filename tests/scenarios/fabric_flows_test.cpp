// Lists of flows on the fabric of a scenario, against cases worked by hand and against all rates again at every event.

#include "scenarios/run/fabric_flows.hpp"

#include "network/fluid.hpp"
#include "scenarios/run/fabric.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// Servers with one GPU, interfaces of 1 GB/s. A message within a leaf, or on one switch, pays 150 ns of PCIe at
/// both ends and two cables of 500 ns.
constexpr Time kOneSwitch = Time::nanoseconds(2 * 150 + 2 * 500);

Scenario gigabyte_fabric(const char* kind, int servers) {
  Scenario scenario;
  scenario.cluster.servers = servers;
  scenario.cluster.gpus_per_server = 1;
  scenario.network.fidelity = Fidelity::flow;
  scenario.network.nic = ByteRate{1e9};
  FabricSpec& fabric = scenario.network.topology.fabric;
  fabric.kind = kind;
  if (fabric.kind == "leaf-spine") fabric.servers_per_leaf = fabric.spines = 2;
  if (fabric.kind == "fat-tree") fabric.ports = 4;
  return scenario;
}

ListedFlow flow_of(Time start, std::int64_t bytes, std::uint32_t source, std::uint32_t destination) {
  return {"", start, Bytes{bytes}, GpuId{source}, GpuId{destination}};
}

}  // namespace

TEST_CASE("flows: two into one interface, by hand") {
  Scenario scenario = gigabyte_fabric("single-switch", 3);
  scenario.network.alpha = Time::microseconds(10);
  // Both wait 11.3 us before they send. The first has sent 500,000 bytes when the second begins; they share the
  // interface of server 2 until the second has sent 250,000 bytes; the first has 250,000 left, which take 250 us.
  const std::vector<ListedFlow> flows{flow_of(Time{}, 1'000'000, 0, 2),
                                      flow_of(Time::microseconds(500), 250'000, 1, 2)};
  const auto outcomes = run_flows(scenario.cluster, scenario.network, scenario.failures, scenario.seed, flows);
  const Time wait = scenario.network.alpha + kOneSwitch;
  REQUIRE(outcomes.size() == 2);
  CHECK(outcomes[0].ideal == wait + Time::milliseconds(1));
  CHECK(outcomes[1].ideal == wait + Time::microseconds(250));
  CHECK(outcomes[0].end == wait + Time::microseconds(1250));
  CHECK(outcomes[1].end == wait + Time::milliseconds(1));
  // The order of rows doesn't matter.
  const auto turned =
      run_flows(scenario.cluster, scenario.network, scenario.failures, scenario.seed, std::vector{flows[1], flows[0]});
  CHECK(turned[0].end == outcomes[1].end);
  CHECK(turned[1].end == outcomes[0].end);
}

TEST_CASE("flows: ends as with all rates again at every event, for every routing") {
  for (const Routing routing : {Routing::shortest_path, Routing::ecmp, Routing::spraying}) {
    for (const char* const kind : {"leaf-spine", "fat-tree"}) {
      Scenario scenario = gigabyte_fabric(kind, 8);
      scenario.network.topology.fabric.oversubscription = std::string{kind} == "leaf-spine" ? 2 : 0;
      scenario.network.routing = routing;
      RandomStream random{7, "listed flows"};
      std::vector<ListedFlow> flows;
      for (int f = 0; f < 300; ++f) {
        const auto from = static_cast<std::uint32_t>(random.uniform_integer(0, 7));
        const auto to = static_cast<std::uint32_t>((from + random.uniform_integer(1, 7)) % 8);
        flows.push_back(flow_of(Time::nanoseconds(random.uniform_integer(0, 20'000'000)),
                                random.uniform_integer(1'000, 1'000'000), from, to));
      }
      const auto outcomes = run_flows(scenario.cluster, scenario.network, scenario.failures, scenario.seed, flows);

      const Topology topology = build_topology(scenario.cluster, scenario.network);
      const auto router = build_router(scenario.network, topology, scenario.seed);
      std::stable_sort(flows.begin(), flows.end(),
                       [](const ListedFlow& a, const ListedFlow& b) { return a.start < b.start; });
      std::map<std::pair<GpuId, GpuId>, std::uint64_t> labels;
      std::vector<double> capacities;
      for (const Link& link : topology.links()) capacities.push_back(link.bandwidth.bytes_per_second());
      struct Sending {
        Time start;
        Route route;
        double bytes;
        bool operator<(const Sending& other) const { return start < other.start; }
      };
      std::vector<Sending> sending;
      for (const ListedFlow& flow : flows) {
        Route route;
        router->route(topology.gpus()[flow.source.index()], topology.gpus()[flow.destination.index()],
                      labels[{flow.source, flow.destination}]++, route);
        sending.push_back({flow.start + route.latency, route, flow.bytes.to_double()});
      }
      std::stable_sort(sending.begin(), sending.end());
      FluidNetwork slow{capacities};
      slow.resolve_all(true);
      std::vector<Time> expected;
      std::vector<FlowId> ended;
      const auto drain = [&](Time until) {
        while (slow.active() > 0 && slow.next_end() <= until) {
          const Time end = slow.next_end();
          ended.clear();
          slow.finish_due(end, ended);
          expected.insert(expected.end(), ended.size(), end);
        }
      };
      for (const Sending& each : sending) {
        drain(each.start);
        slow.start({.links = each.route.links, .bytes = each.bytes}, each.start);
      }
      drain(Time::never());
      std::vector<Time> got;
      for (const FlowOutcome& outcome : outcomes) got.push_back(outcome.end.value());
      std::sort(got.begin(), got.end());
      REQUIRE(got.size() == expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs((got[i] - expected[i]).ns()) <= 20);
    }
  }
}

TEST_CASE("flows: planned routes count the flows of a pair in order of start") {
  // Two leaves, two spines with cables of half a gigabyte per second. The plan parts the two flows of the pair.
  Scenario scenario = gigabyte_fabric("leaf-spine", 4);
  scenario.network.topology.fabric.oversubscription = 2;
  scenario.network.routing = Routing::shortest_path;
  const std::vector<ListedFlow> flows{flow_of(Time::nanoseconds(1), 500'000, 0, 2), flow_of(Time{}, 500'000, 0, 2)};
  const auto together = run_flows(scenario.cluster, scenario.network, scenario.failures, scenario.seed, flows);
  const TemporaryFolder folder;
  const std::string plan = folder.path("plan.yaml");
  write_file(plan,
             "- {from: server0/gpu0, to: server2/gpu0, label: 0, paths: [[server0/nic0, leaf0, spine1, leaf1, "
             "server2/nic0]]}\n");
  scenario.network.routes = plan;
  const auto parted = run_flows(scenario.cluster, scenario.network, scenario.failures, scenario.seed, flows);
  const double latency = (2 * 150 + 4 * 500) * 1e-9;
  CHECK(together[0].end->to_seconds() == near(2e-3 + latency, 1e-5));  // 1 MB over 0.5 GB/s
  CHECK(parted[0].end->to_seconds() == near(1e-3 + latency, 1e-5));
  CHECK(parted[1].end->to_seconds() == near(1e-3 + latency, 1e-5));
}

TEST_CASE("flows: a link that fails and comes back delays those that cross it, and one for ever stalls them") {
  Scenario scenario = gigabyte_fabric("single-switch", 4);
  const TemporaryFolder folder;
  const std::string events = folder.path("events.csv");
  write_file(events, "time_s,link,factor\n0.0005,server1,0\n0.0015,server1,1\n");
  scenario.network.events = events;
  const std::vector<ListedFlow> flows{flow_of(Time{}, 1'000'000, 0, 1), flow_of(Time{}, 1'000'000, 2, 3)};
  const auto delayed = run_flows(scenario.cluster, scenario.network, scenario.failures, scenario.seed, flows);
  CHECK(delayed[0].ideal == kOneSwitch + Time::milliseconds(1));
  CHECK(delayed[0].end == kOneSwitch + Time::milliseconds(2));
  CHECK(delayed[1].end == kOneSwitch + Time::milliseconds(1));
  write_file(events, "time_s,link,factor\n0.0005,server1,0\n");
  const auto stalled = run_flows(scenario.cluster, scenario.network, scenario.failures, scenario.seed, flows);
  CHECK_FALSE(stalled[0].end.has_value());
  CHECK(stalled[1].end == delayed[1].end);
}

TEST_CASE("flows: ethereal plans the flows of one instant together, and again when a spine fails") {
  // Four servers a leaf and four spines with cables of 0.5 GB/s.
  Scenario scenario = gigabyte_fabric("leaf-spine", 8);
  scenario.network.topology.fabric.servers_per_leaf = 4;
  scenario.network.topology.fabric.spines = 4;
  scenario.network.topology.fabric.oversubscription = 2;
  const double latency = (2 * 150 + 4 * 500) * 1e-9;
  const auto last = [&](Routing routing, std::uint32_t count) {
    scenario.network.routing = routing;
    std::vector<ListedFlow> flows;
    for (std::uint32_t i = 0; i < count; ++i) flows.push_back(flow_of(Time{}, 1'000'000, i, 4 + i));
    Time end;
    for (const FlowOutcome& outcome :
         run_flows(scenario.cluster, scenario.network, scenario.failures, scenario.seed, flows))
      end = std::max(end, outcome.end.value());
    return end.to_seconds() - latency;
  };
  CHECK(last(Routing::shortest_path, 3) == near(6e-3, 1e-6));  // 3 MB on one cable
  CHECK(last(Routing::ethereal, 3) == near(1.5e-3, 1e-6));     // 0.75 MB on each
  CHECK(last(Routing::ethereal, 4) == near(2e-3, 1e-6));
  // Half is sent when a spine fails. Of the four flows on three cables one is split; all get 0.375 GB/s.
  const TemporaryFolder folder;
  const std::string events = folder.path("events.csv");
  write_file(events, "time_s,link,factor\n0.0010023,spine1,0\n");
  scenario.network.events = events;
  CHECK(last(Routing::ethereal, 4) == near(1e-3 + 0.5 / 0.375 * 1e-3, 1e-6));
}
