#include "validate/network/network_cases.hpp"

#include "network/fluid.hpp"
#include "network/routing.hpp"
#include "network/topologies/topology_spec.hpp"

#include <algorithm>
#include <cstddef>

namespace contend {

namespace {

const std::vector<NetworkCase> kNetworkCases = {
    // B = 4 is shared by the first and the last: 2 each. The second gets the rest of A = 10.
    {"the tighter link decides first",
     {10, 4},
     {{0, 2000, {{0}, {1}}, 1000}, {0, 8000, {{0}}, 1000}, {0, 2000, {{1}}, 1000}}},

    // Bertsekas and Gallager, Data Networks, figure 6.10: link 2 gives 1/4 to each of its four flows. The long
    // flow leaves 3/4 on links 0 and 1.
    {"three links in a line",
     {1, 1, 1},
     {{0, 250, {{0}, {1}, {2}}, 1000},
      {0, 750, {{0}}, 1000},
      {0, 750, {{1}}, 1000},
      {0, 250, {{2}}, 1000},
      {0, 250, {{2}}, 1000},
      {0, 250, {{2}}, 1000}}},

    // Link 1 gives 3 to the second and the third, so the first has 7. When the third ends at 1000, the second rises and
    // meets the first on link 0: 5 each. The first falls although a flow has left.
    {"who leaves may slow another",
     {10, 6},
     {{0, 12000, {{0}}, 2000}, {0, 8000, {{0}, {1}}, 2000}, {0, 3000, {{1}}, 1000}}},

    // Alone at 10 until 500, then 5 each: the second ends at 900. The first has 10000 - 5000 - 2000 left for 10.
    {"one joins half-way", {10}, {{0, 10000, {{0}}, 1200}, {500, 2000, {{0}}, 900}}},

    // Weights 1 and 3 on 8: 2 and 6. From 1000 on the second has 6000 left and all 8.
    {"weights", {8}, {{0, 2000, {{0}}, 1000, 1}, {0, 12000, {{0}}, 1750, 3}}},

    // The first takes its cap of 1, the second 7; from 1000 on the last 800 take 8.
    {"a cap", {8}, {{0, 1000, {{0}}, 1000, 1, 1}, {0, 7800, {{0}}, 1100}}},

    // The first puts twice its bytes on the link: 2 r + r = 9. From 1000 on the second has 9000 left and all 9.
    {"a coupled flow loads the link twice", {9}, {{0, 3000, {{0, 2}}, 1000}, {0, 12000, {{0}}, 2000}}},

    // 3000 bytes by 300, nothing until 800, then the last 2000.
    {"a link fails and comes back", {10}, {{0, 5000, {{0}}, 1000}}, {{300, 0, 0}, {800, 0, 10}}},

    // k beta + (k-1) eta with eta / beta = 1/4: two send at 1/2.25 each; the second ends at 4000 x 2.25. Then the first
    // has 6000 left.
    {"k-way contention", {1}, {{0, 10000, {{0}}, 15000}, {0, 4000, {{0}}, 9000}}, {}, 0.25},

    // 1000 bytes at 3 take 333 1/3 ns: rounded up.
    {"completions are rounded up", {3}, {{0, 1000, {{0}}, 334}}},
};

constexpr double kGigabytes = 1e9;  // bytes a second for one a nanosecond

}  // namespace

std::span<const NetworkCase> network_cases() {
  return kNetworkCases;
}

std::vector<std::int64_t> simulate_ends(const NetworkCase& network_case) {
  std::vector<double> capacities;
  for (const double capacity : network_case.capacities) capacities.push_back(capacity * kGigabytes);
  FluidNetwork network{capacities};
  for (std::size_t l = 0; l < capacities.size(); ++l) {
    if (network_case.penalty > 0) network.set_efficiency(LinkId{l}, {{}, network_case.penalty}, Time{});
  }
  std::vector<std::int64_t> ends(network_case.flows.size(), -1);
  std::vector<std::size_t> who(network_case.flows.size());  // by id: never more than there are flows
  std::vector<FlowId> ended;
  auto flow = network_case.flows.begin();
  auto change = network_case.changes.begin();
  while (true) {
    const Time end = network.next_end();
    const Time start = flow != network_case.flows.end() ? Time::nanoseconds(flow->start_ns) : Time::never();
    const Time turn = change != network_case.changes.end() ? Time::nanoseconds(change->at_ns) : Time::never();
    const Time now = std::min({end, start, turn});
    if (now == Time::never()) return ends;
    ended.clear();
    network.finish_due(now, ended);
    for (const FlowId id : ended) ends[who[id.index()]] = now.ns();
    if (turn == now) {
      network.set_capacity(LinkId{change->link}, change->capacity * kGigabytes, now);
      ++change;
    } else if (start == now) {
      std::vector<LinkShare> links;
      for (const NetworkCase::Use& use : flow->links) links.push_back({LinkId{use.link}, use.share});
      const FlowId id = network.start({links, flow->bytes, flow->weight, flow->cap * kGigabytes}, now);
      who[id.index()] = static_cast<std::size_t>(flow - network_case.flows.begin());
      ++flow;
    }
  }
}

std::int64_t simulate_incast(int senders) {
  TopologySpec spec;
  spec.server.nic_bandwidth = ByteRate{12.5e9};
  const Topology topology = build_topology(spec, static_cast<std::size_t>(senders) + 1, 1);
  const auto router = make_shortest_path_router(topology);
  std::vector<double> capacities;
  for (const Link& link : topology.links()) capacities.push_back(link.bandwidth.bytes_per_second());
  FluidNetwork network{capacities};
  Route route;
  for (std::size_t s = 1; s < topology.gpus().size(); ++s) {
    router->route(topology.gpus()[s], topology.gpus()[0], 0, route);
    network.start({route.links, 100e6}, Time{});
  }
  std::vector<FlowId> ended;
  Time now;
  while (network.active() > 0) {
    now = network.next_end();
    network.finish_due(now, ended);
  }
  return now.ns();
}

}  // namespace contend
