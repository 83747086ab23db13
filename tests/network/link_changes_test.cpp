// Tests links that change: by a list, by laws, and by both at once; and what that does to a job.

#include "network/link_changes.hpp"

#include "network/flow_network.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/network/flow_kit.hpp"
#include "tests/network/network_kit.hpp"
#include "tests/sim/test_kit.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;
using namespace contend::test;

namespace {

Time ns(std::int64_t count) {
  return Time::nanoseconds(count);
}

FailingLinks failing(std::string name, std::vector<LinkId> links, std::int64_t works, std::int64_t ill,
                     double factor = 0) {
  return {std::move(name), std::move(links), DurationLaw::constant(ns(works)), DurationLaw::constant(ns(ill)), factor};
}

/// All changes until `until`, as `time link factor`, carried out in steps of `step`.
std::vector<std::string> changes(LinkChanges links, std::int64_t until, std::int64_t step) {
  std::vector<std::string> found;
  for (std::int64_t now = 0; now <= until; now += step)
    links.advance(ns(now), [&](const LinkEvent& event) {
      found.push_back(fmt::format("{} {} {}", event.time.ns(), event.link.value(), event.factor));
    });
  return found;
}

/// The time at which `work` ends that runs at rate 1 for `works`, then at the rate `factor` for `ill`, and so on.
double end_of(double begin, double work, double works, double ill, double factor) {
  double now = begin;
  while (work > 0) {
    const double phase = std::fmod(now, works + ill);
    const bool is_ill = phase >= works;
    const double left = (is_ill ? works + ill : works) - phase;
    const double rate = is_ill ? factor : 1;
    if (rate * left >= work) return now + work / rate;
    work -= rate * left;
    now += left;
  }
  return now;
}

}  // namespace

TEST_CASE("link changes: causes on one link multiply, and each ends by itself") {
  // A switch with links 0 and 1, a cable with link 1 that keeps half of its bandwidth, and an event on each.
  const LinkChanges links{
      3,
      {{ns(55), LinkId{2U}, 0.25}, {ns(12), LinkId{1U}, 0.5}},
      {failing("switch/a", {LinkId{0U}, LinkId{1U}}, 20, 10), failing("cable/b", {LinkId{1U}}, 25, 30, 0.5)},
      1};
  CHECK(links.next().ns() == 12);
  const std::vector<std::string> expected{"12 1 0.5", "20 0 0", "20 1 0",    "30 0 1", "30 1 0.25",
                                          "50 0 0",   "50 1 0", "55 2 0.25", "60 0 1", "60 1 0.5"};
  CHECK(changes(links, 79, 1) == expected);
  // Changes that are carried out late are equal, in the same order.
  CHECK(changes(links, 79, 79) == expected);
  CHECK(changes(LinkChanges{3, {}, {}, 1}, 100, 10).empty());
  CHECK(LinkChanges{3, {}, {}, 1}.next() == Time::never());
}

TEST_CASE("link changes: by exponential laws each link is down for its share of the time, by a stream of its own") {
  constexpr std::uint32_t kLinks = 200;
  const std::int64_t until = effort(4'000'000);
  std::vector<FailingLinks> all;
  for (std::uint32_t l = 0; l < kLinks; ++l)
    all.push_back({fmt::format("nic/{}", l),
                   {LinkId{l}},
                   DurationLaw::exponential(ns(90'000)),
                   DurationLaw::exponential(ns(10'000))});
  const auto down_of = [&](std::vector<FailingLinks> failing, std::uint64_t seed) {
    std::vector<double> down(kLinks), since(kLinks);
    LinkChanges links{kLinks, {}, std::move(failing), seed};
    links.advance(ns(until), [&](const LinkEvent& event) {
      double& begin = since[event.link.index()];
      const auto now = static_cast<double>(event.time.ns());
      if (event.factor > 0) down[event.link.index()] += now - begin;
      begin = now;
    });
    return down;
  };
  const std::vector<double> down = down_of(all, 1);
  double mean = 0;
  for (const double each : down) mean += each / kLinks / static_cast<double>(until);
  // The variance of the share of an alternating process is about 2 a (1-a) / ((1/works + 1/ill) time); it works at
  // first.
  const double spread = std::sqrt(2 * 0.09 * 9'000 / static_cast<double>(until) / kLinks);
  CHECK(std::abs(mean - 0.1) < 4 * spread + 0.1 * 9'000 / static_cast<double>(until));
  CHECK(*std::ranges::min_element(down) < *std::ranges::max_element(down));
  // Another link that fails changes nothing for the first ones, another seed changes all.
  all.erase(all.begin() + 3, all.end());
  const std::vector<double> few = down_of(all, 1);
  CHECK(std::equal(few.begin(), few.begin() + 3, down.begin()));
  CHECK(down_of(all, 2)[0] != few[0]);
}

TEST_CASE("a job whose interface fails again and again waits for it, and is slower where a part of the rate is left") {
  // 10 us of computing and 100 kB at 1 byte/ns. The interface of server 0 works for 70 us and is ill for 50.
  const TopologySpec fabric = plain_fabric(spec("single-switch"));
  for (const double factor : {0.0, 0.25, 1.0}) {
    auto topology = std::make_unique<Topology>(build_topology(fabric, 2, 1));
    std::vector<LinkId> links;
    for (std::size_t l = 0; l < topology->links().size(); ++l) {
      const std::string name = topology->link_name(LinkId{l});
      if (name == "server0/nic0->switch0" || name == "switch0->server0/nic0") links.emplace_back(l);
    }
    REQUIRE(links.size() == 2);
    FlowNetworkOptions options = ring_options();
    options.failing = {failing("nic", links, 70'000, 50'000, factor)};
    auto router = make_shortest_path_router(*topology);
    constexpr int kIterations = 50;
    const std::vector<TestJob> jobs{
        {"role w 2 | compute f w 10000 | all-reduce g w 100000 | f -> g | g => f", {0, 1}, kIterations}};
    Simulation simulation{{2, 1, Bytes{1 << 20}},
                          workload_of(jobs),
                          policies_of({2, 1}, jobs),
                          make_flow_network(std::move(topology), std::move(router), options, 1),
                          {}};
    const RunResult run = simulation.run();
    double now = 0;
    for (int i = 0; i < kIterations; ++i) now = end_of(now + 10e3, 100e3, 70e3, 50e3, factor);
    INFO(factor);
    CHECK(run.jobs[0].finish.ns() == near(now, 1e-4));
    for (const FabricLinkResult& link : run.fabric.links) {
      const bool fails =
          link.name.find("server0/nic0") != std::string::npos && link.name.find("gpu") == std::string::npos;
      const double share = link.down.to_seconds() / run.end.to_seconds();
      CHECK(share == near(fails && factor == 0 ? 50.0 / 120 : 0, 0.02));
      CHECK(link.reduced.to_seconds() / run.end.to_seconds() ==
            near(fails && factor > 0 && factor < 1 ? 50.0 / 120 : 0, 0.02));
    }
  }
}
