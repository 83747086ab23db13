#include "network/fluid.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/network/random_flows.hpp"

#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

const std::vector<LinkShare> kFirst{{LinkId{0U}, 1}};
const std::vector<LinkShare> kSecond{{LinkId{1U}, 1}};
const std::vector<LinkShare> kBoth{{LinkId{0U}, 1}, {LinkId{1U}, 1}};

std::vector<FlowId> finish(FluidNetwork& network) {
  std::vector<FlowId> ended;
  network.finish_due(network.next_end(), ended);
  return ended;
}

}  // namespace

TEST_CASE("an incast of eight flows of 100 MB into 12.5 GB/s ends at 64 ms") {
  FluidNetwork network{std::vector<double>{12.5e9}};
  for (int i = 0; i < 8; ++i) network.start({.links = kFirst, .bytes = 1e8}, Time{});
  CHECK(network.next_end() == Time::milliseconds(64));
  CHECK(finish(network).size() == 8);
  CHECK(network.active() == 0);
  CHECK(network.carried(LinkId{0U}, Time::milliseconds(64)) == 8e8);
}

TEST_CASE("three flows on links of 10 and 4 bytes per nanosecond end together") {
  // Rates 2, 8, 2 (fair_share_test): 20, 80 and 20 bytes take 10 ns each.
  FluidNetwork network{std::vector<double>{10e9, 4e9}};
  network.start({.links = kBoth, .bytes = 20}, Time{});
  network.start({.links = kFirst, .bytes = 80}, Time{});
  network.start({.links = kSecond, .bytes = 20}, Time{});
  CHECK(network.next_end().ns() == 10);
  CHECK(finish(network).size() == 3);
}

TEST_CASE("flows that last for hours end in the nanosecond of their last byte, by exact arithmetic") {
  RandomStream random{1, "long flows"};
  for (int i = 0; i < effort(2'000); ++i) {
    // So many flows of so many bytes share a link of so many bytes a second. They last up to 2.8 hours.
    const int flows = static_cast<int>(random.uniform_integer(1, 4));
    const bool is_whole = i % 2 == 0;  // a whole number of nanoseconds
    std::int64_t rate = random.uniform_integer(1'000'000, 10'000'000'000), bytes = 0, whole_ns = 0;
    const double seconds = std::pow(10, -6 + 10 * random.uniform());
    if (is_whole) {
      const std::int64_t each = random.uniform_integer(1, 20);  // bytes in a nanosecond for each flow
      whole_ns = static_cast<std::int64_t>(seconds * 1e9);
      rate = 1'000'000'000 * each * flows;
      bytes = each * whole_ns;
    } else {
      bytes = 1 + static_cast<std::int64_t>(seconds * static_cast<double>(rate) / flows);
    }
    FluidNetwork network{std::vector<double>{static_cast<double>(rate)}};
    for (int f = 0; f < flows; ++f) network.start({.links = kFirst, .bytes = static_cast<double>(bytes)}, Time{});
    const Int128 end = network.next_end().ns(), sent = Int128{bytes} * flows * 1'000'000'000;
    CAPTURE(i);
    if (is_whole) CHECK(end == whole_ns);
    // No more than 0.3 ns early, and not a nanosecond late.
    CHECK(10 * end * rate + 3 * Int128{rate} >= 10 * sent);
    CHECK((end - 1) * rate < sent);
  }
}

TEST_CASE("the remaining flows get the rate of a flow that ends") {
  // 1 byte/ns. a: 100 bytes from 0; b: 30 bytes from 40: a has 60 left, both at 1/2, b ends at 100; a has 30 left: 130.
  FluidNetwork network{std::vector<double>{1e9}};
  const FlowId a = network.start({.links = kFirst, .bytes = 100}, Time{});
  CHECK(network.next_end().ns() == 100);
  const FlowId b = network.start({.links = kFirst, .bytes = 30}, Time::nanoseconds(40));
  CHECK(network.next_end().ns() == 100);
  CHECK(network.remaining(a, Time::nanoseconds(50)) == near(55));
  CHECK(finish(network) == std::vector{b});
  CHECK(network.next_end().ns() == 130);
  CHECK(network.carried(LinkId{0U}, Time::nanoseconds(110)) == near(110));
  CHECK(finish(network) == std::vector{a});
}

TEST_CASE("a flow of lower priority waits for the others, and its observer knows") {
  class Watch final : public FlowObserver {
   public:
    void sent(FlowId, Time, Time, double) override {}
    void rate_changed(FlowId flow, Time now, double rate) override { changes.emplace_back(flow, now.ns(), rate); }
    std::vector<std::tuple<FlowId, std::int64_t, double>> changes;
  } watch;
  FluidNetwork network{std::vector<double>{1e9}};
  network.observe(&watch);
  const FlowId first = network.start({.links = kFirst, .bytes = 100}, Time{});
  const FlowId last = network.start({.links = kFirst, .bytes = 20, .weight = 1024, .priority = 2}, Time{});
  const FlowId second = network.start({.links = kFirst, .bytes = 50, .weight = 0.5, .priority = 1}, Time{});
  CHECK(network.next_end().ns() == 100);
  CHECK(network.remaining(second, Time::nanoseconds(60)) == 50);
  CHECK(finish(network) == std::vector{first});
  CHECK(network.next_end().ns() == 150);
  CHECK(finish(network) == std::vector{second});
  CHECK(network.next_end().ns() == 170);
  CHECK(finish(network) == std::vector{last});
  using Change = std::tuple<FlowId, std::int64_t, double>;
  CHECK(watch.changes == std::vector{Change{first, 0, 1}, Change{last, 0, 0}, Change{second, 0, 0},
                                     Change{second, 100, 1}, Change{last, 150, 1}});
}

TEST_CASE("a link that fails stalls its flows; when it comes back they go on") {
  FluidNetwork network{std::vector<double>{1e9}};
  network.start({.links = kFirst, .bytes = 100}, Time{});
  CHECK(network.next_end().ns() == 100);
  network.set_capacity(LinkId{0U}, 0, Time::nanoseconds(25));
  CHECK(network.next_end() == Time::never());
  network.set_capacity(LinkId{0U}, 0.5e9, Time::nanoseconds(1000));
  CHECK(network.next_end().ns() == 1150);  // 75 bytes left at 1/2
}

TEST_CASE("a cancelled flow has carried the bytes that it sent") {
  FluidNetwork network{std::vector<double>{1e9}};
  const FlowId a = network.start({.links = kFirst, .bytes = 100}, Time{});
  CHECK(network.next_end().ns() == 100);
  network.cancel(a, Time::nanoseconds(30));
  CHECK(network.next_end() == Time::never());
  CHECK(network.carried(LinkId{0U}, Time::nanoseconds(50)) == near(30));
}

TEST_CASE("recomputing only the affected rates gives the same ends as recomputing all") {
  RandomStream random{3, "fluid"};
  for (int i = 0; i < effort(100); ++i) {
    SystemShape shape = random_shape(random);
    shape.links = 30;
    std::vector<double> capacities = random_capacities(shape, random);
    for (double& capacity : capacities) capacity = 1e9 * (capacity + 0.1);
    FluidNetwork fast{capacities};
    FluidNetwork slow{capacities};
    slow.resolve_all(true);
    double demanded = 0;
    Time now;
    for (int f = 0; f < 80; ++f) {
      FlowDemand flow = random_flow(shape, random);
      const double bytes = random.uniform(10, 1e5);
      for (const LinkShare& use : flow.links) demanded += use.share * bytes;
      const FluidNetwork::Start start{flow.links, bytes, flow.weight, flow.cap * 1e9};
      REQUIRE(fast.start(start, now) == slow.start(start, now));
      const Time next = now + Time::nanoseconds(random.uniform_integer(0, 20'000));
      const bool last = f == 79;
      while (fast.active() > 0 && (last || fast.next_end() <= next)) {
        const Time end = fast.next_end();
        REQUIRE(std::abs((end - slow.next_end()).ns()) <= 1);
        now = std::max(end, slow.next_end());
        std::vector<FlowId> ended_fast;
        std::vector<FlowId> ended_slow;
        fast.finish_due(now, ended_fast);
        slow.finish_due(now, ended_slow);
        REQUIRE(ended_fast == ended_slow);
      }
      now = std::max(now, next);
    }
    double carried = 0;
    for (std::uint32_t l = 0; l < 30; ++l) carried += fast.carried(LinkId{l}, now);
    CHECK(carried == near(demanded));
  }
}
