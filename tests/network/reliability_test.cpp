// Tests failures of links while flows are active. Faults in the user's input (pairs without a path, zero bandwidth,
// negative latency, duplicate links, cycles in a plan) are in topology_errors_test.cpp and routing_plan_test.cpp,
// rerouting in flow_network_test.cpp.

#include "network/fluid.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/network/random_flows.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

TEST_CASE("a flow whose links stay down never ends; cancelling it returns the bytes that it has not sent") {
  // 300 of 1000 bytes are through when link 1 fails; link 0 fails as well and comes back, to no avail.
  FluidNetwork network{std::vector<double>{10e9, 1e9}};
  const std::vector<LinkShare> way{{LinkId{0U}, 1}, {LinkId{1U}, 1}};
  const FlowId flow = network.start({way, 1000}, Time{});
  CHECK(network.next_end() == Time::nanoseconds(1000));
  network.set_capacity(LinkId{1U}, 0, Time::nanoseconds(300));
  network.set_capacity(LinkId{0U}, 0, Time::nanoseconds(400));
  network.set_capacity(LinkId{0U}, 10e9, Time::nanoseconds(500));
  CHECK(network.next_end() == Time::never());
  CHECK(network.rate(flow) == 0);
  CHECK(network.carried(LinkId{0U}, Time::nanoseconds(600)) == near(300));
  CHECK(network.cancel(flow, Time::nanoseconds(700)) == near(700));
  CHECK(network.active() == 0);
  CHECK(network.carried(LinkId{1U}, Time::nanoseconds(700)) == near(300));
}

TEST_CASE("links that fail and come back lose no bytes: every link carries what its flows have sent") {
  RandomStream random{5, "failures"};
  int stalled = 0;
  for (int i = 0; i < effort(100); ++i) {
    SystemShape shape = random_shape(random);
    shape.links = 12;
    std::vector<double> capacities = random_capacities(shape, random);
    for (double& capacity : capacities) capacity = (capacity + 1) * 1e9;
    FluidNetwork network{capacities};
    std::vector<double> demanded(capacities.size(), 0);
    std::vector<FlowId> ended;
    std::size_t started = 0;
    Time now;
    for (int step = 0; step < 200; ++step) {
      now += Time::nanoseconds(random.uniform_integer(0, 300));
      while (network.next_end() <= now) network.finish_due(network.next_end(), ended);
      const auto link = static_cast<std::size_t>(random.uniform_integer(0, shape.links - 1));
      const double what = random.uniform();
      if (what < 0.6) {
        const FlowDemand flow = random_flow(shape, random);
        const double bytes = random.uniform(1, 2000);
        network.start({flow.links, bytes, flow.weight, flow.cap * 1e9}, now);
        for (const LinkShare& use : flow.links) demanded[use.link.index()] += use.share * bytes;
        ++started;
      } else {
        network.set_capacity(LinkId{link}, what < 0.8 ? 0 : capacities[link], now);
      }
      stalled += network.active() > 0 && network.next_end() == Time::never() ? 1 : 0;
    }
    for (std::size_t l = 0; l < capacities.size(); ++l) network.set_capacity(LinkId{l}, capacities[l], now);
    while (network.active() > 0) {
      now = network.next_end();
      REQUIRE(now != Time::never());
      network.finish_due(now, ended);
    }
    REQUIRE(ended.size() == started);
    for (std::size_t l = 0; l < capacities.size(); ++l) {
      REQUIRE(network.carried(LinkId{l}, now) == near(demanded[l]));
    }
  }
  CHECK(stalled > effort(100));
}

TEST_CASE("the sums of links do not drift: 60,000 changes, some solved from scratch, end at the rates of filling") {
  RandomStream random{6, "drift"};
  SystemShape shape;
  shape.ties = false;
  FlowSystem system{random_capacities(shape, random), {}};
  for (double& capacity : system.capacities) capacity += 0.1;
  MaxMinRates shares{system.capacities};
  std::vector<FlowId> ids;
  std::size_t compared = 0;
  for (int change = 0; change < effort(60'000); ++change) {
    if (ids.size() < 5 || (ids.size() < 40 && random.uniform() < 0.5)) {
      system.flows.push_back(random_flow(shape, random));
      ids.push_back(shares.add(system.flows.back().links, system.flows.back().weight, system.flows.back().cap));
    } else {
      const auto gone = random.uniform_integer(0, static_cast<std::int64_t>(ids.size()) - 1);
      shares.remove(ids[static_cast<std::size_t>(gone)]);
      ids.erase(ids.begin() + gone);
      system.flows.erase(system.flows.begin() + gone);
    }
    if (random.uniform() < 0.0005) {
      shares.solve_all();
    } else {
      shares.solve();
    }
    if (change % 1000 != 999) continue;
    const std::vector<double> expected = max_min_rates(system);
    for (std::size_t f = 0; f < ids.size(); ++f) {
      REQUIRE(shares.rate(ids[f]) == near(expected[f], 1e-11));
      ++compared;
    }
  }
  CHECK(compared > effort(std::size_t{600}));
}
