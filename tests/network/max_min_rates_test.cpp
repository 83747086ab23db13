#include "network/max_min_rates.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/network/random_flows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

FlowDemand over(const std::vector<std::uint32_t>& links, double weight = 1, double cap = 0, int priority = 0) {
  FlowDemand flow{.links = {}, .weight = weight, .cap = cap, .priority = priority};
  for (const std::uint32_t l : links) flow.links.push_back({LinkId{l}, 1});
  return flow;
}

std::vector<double> incrementally(const std::vector<double>& capacities, const std::vector<FlowDemand>& flows) {
  MaxMinRates shares{capacities};
  std::vector<FlowId> ids;
  for (const FlowDemand& flow : flows) ids.push_back(shares.add(flow.links, flow.weight, flow.cap, flow.priority));
  shares.solve();
  std::vector<double> rates;
  for (const FlowId id : ids) rates.push_back(shares.rate(id));
  return rates;
}

void check_rates(const std::vector<double>& capacities, const std::vector<FlowDemand>& flows,
                 const std::vector<double>& expected) {
  const auto filled = max_min_rates({capacities, flows});
  const auto swept = incrementally(capacities, flows);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    CHECK(filled[f] == near(expected[f]));
    CHECK(swept[f] == near(expected[f]));
  }
}

/// Flows that come, go and change their weights, beside what the rates must be.
class ChangingSystem {
 public:
  ChangingSystem(const SystemShape& shape, RandomStream& random)
      : shape_{shape}, random_{random}, system_{random_capacities(shape, random), {}}, rates_{system_.capacities} {}

  void change() {
    const double what = random_.uniform();
    if (std::ssize(ids_) < shape_.flows / 4 || (std::ssize(ids_) < shape_.flows && what < 0.5)) {
      add(random_flow(shape_, random_));
    } else if (what < 0.8) {
      remove();
    } else if (what < 0.97) {
      FlowDemand flow = remove();
      flow.weight = random_flow(shape_, random_).weight;
      add(std::move(flow));
    } else {
      const auto link = static_cast<std::size_t>(random_.uniform_integer(0, shape_.links - 1));
      system_.capacities[link] = random_capacities(shape_, random_)[link];
      rates_.set_capacity(LinkId{link}, system_.capacities[link]);
    }
  }

  /// Solves and says what is wrong with the rates, if anything is.
  std::string fault() {
    rates_.solve();
    std::vector<double> rates;
    for (const FlowId id : ids_) rates.push_back(rates_.rate(id));
    if (std::string fault = max_min_fault(system_, rates); !fault.empty()) return fault;
    const std::vector<double> right = max_min_rates(system_);
    std::vector<double> doubt;  // how far the rates are off that capacities with the thirteenth digit changed have
    for (std::size_t f = 0; f < rates.size(); ++f) {
      if (rates[f] == near(right[f], 1e-9)) continue;
      if (doubt.empty()) doubt = doubt_of(right);
      ++doubtful_;
      if (std::abs(rates[f] - right[f]) > doubt[f])
        return fmt::format("flow {} has {} instead of {} +- {}", f, rates[f], right[f], doubt[f]);
    }
    compared_ += rates.size();
    return {};
  }
  /// Rates that were compared, and how many of them rounding of the capacities moves by more than 1e-9.
  [[nodiscard]] std::size_t compared() const { return compared_; }
  [[nodiscard]] std::size_t doubtful() const { return doubtful_; }
  [[nodiscard]] MaxMinRates::Work work() const { return rates_.work(); }

 private:
  void add(FlowDemand flow) {
    ids_.push_back(rates_.add(flow.links, flow.weight, flow.cap, flow.priority));
    system_.flows.push_back(std::move(flow));
  }
  FlowDemand remove() {
    const std::ptrdiff_t gone = random_.uniform_integer(0, std::ssize(ids_) - 1);
    FlowDemand flow = std::move(system_.flows[static_cast<std::size_t>(gone)]);
    rates_.remove(ids_[static_cast<std::size_t>(gone)]);
    ids_.erase(ids_.begin() + gone);
    system_.flows.erase(system_.flows.begin() + gone);
    return flow;
  }
  [[nodiscard]] std::vector<double> doubt_of(const std::vector<double>& right) const {
    constexpr double kDigit = 1e-13, kMore = 10;
    std::vector<double> doubt(right.size(), 0);
    RandomStream random{1, "doubt"};
    for (int i = 0; i < 5; ++i) {
      FlowSystem near_by = system_;
      for (double& capacity : near_by.capacities) capacity *= 1 + random.uniform(-kDigit, kDigit);
      const std::vector<double> other = max_min_rates(near_by);
      for (std::size_t f = 0; f < right.size(); ++f)
        doubt[f] = std::max(doubt[f], kMore * std::abs(other[f] - right[f]));
    }
    return doubt;
  }

  SystemShape shape_;
  RandomStream& random_;
  FlowSystem system_;
  MaxMinRates rates_;
  std::vector<FlowId> ids_;
  std::size_t compared_ = 0, doubtful_ = 0;
};

}  // namespace

TEST_CASE("hand-worked max-min shares") {
  // B = 4 is shared by f0 and f2: 2 each; f1 gets the rest of A = 10.
  check_rates({10, 4}, {over({0, 1}), over({0}), over({1})}, {2, 8, 2});
  // The line of Bertsekas and Gallager, figure 6.10: three links of 1, one flow over all, the last link with three
  // more. Link 2: 1/4 each; link 0 and 1 give the rest, 3/4, to their own flow.
  check_rates({1, 1, 1}, {over({0, 1, 2}), over({0}), over({1}), over({2}), over({2}), over({2})},
              {0.25, 0.75, 0.75, 0.25, 0.25, 0.25});
  // Weights 1 and 3 on 8: 2 and 6. A cap of 1 leaves 7 to the other.
  check_rates({8}, {over({0}), over({0}, 3)}, {2, 6});
  check_rates({8}, {over({0}, 1, 1), over({0}, 3)}, {1, 7});
  // A dead link stops its flow, and the other has link 0 to itself.
  check_rates({6, 0}, {over({0, 1}), over({0})}, {0, 6});
  // A flow that puts twice its bytes on a link: 2 r + r = 9.
  check_rates({9}, {FlowDemand{{{LinkId{0U}, 2}}, 1, 0}, over({0})}, {3, 3});
  // Only a cap.
  check_rates({}, {over({}, 1, 5)}, {5});
}

TEST_CASE("hand-worked shares by priority") {
  // The first takes its cap of 4 out of 10; two of priority 1 share the other 6; priority 2 gets nothing.
  check_rates({10}, {over({0}, 1, 4), over({0}, 1, 0, 1), over({0}, 2, 0, 1), over({0}, 1e6, 0, 2)}, {4, 2, 4, 0});
  // Nothing of B is left for f1, however little f1 shares with f0 elsewhere; f2 takes what f0 leaves of A.
  check_rates({10, 4}, {over({0, 1}), over({1}, 1, 0, 1), over({0}, 1, 0, 1)}, {4, 0, 6});
  // Eight priorities: each takes half of what is left by its cap, whatever the weights.
  std::vector<FlowDemand> flows;
  std::vector<double> expected;
  for (int p = 0; p < 8; ++p) {
    expected.push_back(std::ldexp(128.0, -p - 1));
    flows.push_back(over({0}, 1e-3, p < 7 ? expected.back() : 0, p));
  }
  expected.back() = 1;  // the last has no cap
  check_rates({128}, flows, expected);
}

TEST_CASE("property: priorities, weights and shares over decades give the rates of filling from empty") {
  RandomStream random{17, "decades"};
  std::size_t compared = 0, doubtful = 0, solves = 0, fills = 0;
  for (int i = 0; i < effort(120); ++i) {
    SystemShape shape;
    shape.links = static_cast<int>(random.uniform_integer(20, 60));
    shape.flows = static_cast<int>(random.uniform_integer(20, 80));
    shape.ties = random.uniform() < 0.2;
    shape.priorities = random.uniform() < 0.3 ? 1 : static_cast<int>(random.uniform_integer(2, 8));
    shape.share_decades = random.uniform() < 0.7 ? 12 : 0;
    shape.weight_decades = random.uniform() < 0.7 ? 6 : 0;
    ChangingSystem system{shape, random};
    for (int step = 0; step < 60; ++step) {
      for (std::int64_t changes = random.uniform_integer(1, step == 0 ? shape.flows : 4); changes > 0; --changes)
        system.change();
      const std::string fault = system.fault();
      REQUIRE_MESSAGE(fault.empty(), "system ", i, ", step ", step, ": ", fault);
    }
    compared += system.compared();
    doubtful += system.doubtful();
    solves += system.work().solves;
    fills += system.work().fills;
  }
  CHECK(compared > effort(std::size_t{120}) * 500);
  CHECK(doubtful < compared / 1000);
  CHECK(fills > solves / 30);
  CHECK(fills < solves / 2);
}

TEST_CASE("progressive filling is max-min fair on 10,000 random systems, and solving at once agrees") {
  RandomStream random{7, "kkt"};
  for (int i = 0; i < effort(10'000); ++i) {
    const SystemShape shape = random_shape(random);
    FlowSystem system{random_capacities(shape, random), {}};
    for (int f = 0; f < shape.flows; ++f) system.flows.push_back(random_flow(shape, random));
    const auto filled = max_min_rates(system);
    REQUIRE_MESSAGE(max_min_fault(system, filled).empty(), "system ", i, ": ", max_min_fault(system, filled));
    const auto swept = incrementally(system.capacities, system.flows);
    REQUIRE_MESSAGE(max_min_fault(system, swept).empty(), "system ", i, ": ", max_min_fault(system, swept));
    for (std::size_t f = 0; f < filled.size(); ++f) REQUIRE(swept[f] == near(filled[f], 1e-9));
  }
}

TEST_CASE("after any changes the incremental rates are the rates of filling from empty") {
  const int cases = effort(400);
  RandomStream random{11, "changes"};
  std::size_t at_bottleneck = 0, at_cap = 0, stopped = 0;
  for (int i = 0; i < cases; ++i) {
    SystemShape shape = random_shape(random);
    shape.links = static_cast<int>(random.uniform_integer(1, 40));
    FlowSystem system{random_capacities(shape, random), {}};
    MaxMinRates shares{system.capacities};
    MaxMinRates from_scratch{system.capacities};
    std::vector<FlowId> ids;
    std::vector<double> known;
    for (int change = 0; change < 60; ++change) {
      for (std::int64_t batch = random.uniform_integer(1, 3); batch > 0; --batch) {
        const double what = random.uniform();
        if (what < 0.55 || ids.empty()) {
          system.flows.push_back(random_flow(shape, random));
          const FlowDemand& flow = system.flows.back();
          ids.push_back(shares.add(flow.links, flow.weight, flow.cap));
          REQUIRE(from_scratch.add(flow.links, flow.weight, flow.cap) == ids.back());
        } else if (what < 0.9) {
          const auto gone =
              static_cast<std::size_t>(random.uniform_integer(0, static_cast<std::int64_t>(ids.size()) - 1));
          shares.remove(ids[gone]);
          from_scratch.remove(ids[gone]);
          ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(gone));
          system.flows.erase(system.flows.begin() + static_cast<std::ptrdiff_t>(gone));
        } else {
          const LinkId link{static_cast<std::uint32_t>(random.uniform_integer(0, shape.links - 1))};
          const double capacity = random_capacities(shape, random)[link.index()];
          system.capacities[link.index()] = capacity;
          shares.set_capacity(link, capacity);
          from_scratch.set_capacity(link, capacity);
        }
      }
      const auto changed = shares.solve();
      // Who is not named as changed has the rate that it had.
      known.resize(1000, -1);
      for (const FlowId id : changed) known[id.index()] = shares.rate(id);
      from_scratch.solve_all();
      const auto expected = max_min_rates(system);
      for (std::size_t f = 0; f < ids.size(); ++f) {
        REQUIRE(shares.rate(ids[f]) == near(expected[f], 1e-9));
        REQUIRE(from_scratch.rate(ids[f]) == near(expected[f], 1e-9));
        if (expected[f] > 0) {
          REQUIRE(known[ids[f].index()] == shares.rate(ids[f]));
        } else {
          ++stopped;
        }
        const LinkId bottleneck = shares.bottleneck(ids[f]);
        if (bottleneck.valid()) {
          REQUIRE(shares.load(bottleneck) == near(system.capacities[bottleneck.index()], 1e-9));
          ++at_bottleneck;
        } else {
          REQUIRE(shares.rate(ids[f]) == near(system.flows[f].cap, 1e-9));
          ++at_cap;
        }
      }
    }
  }
  CHECK(at_bottleneck > static_cast<std::size_t>(cases) * 100);
  CHECK(at_cap > static_cast<std::size_t>(cases) * 10);
  CHECK(stopped < at_bottleneck / 2);
}

TEST_CASE("a change touches only the rates that it moves") {
  // 1000 pairs of flows, each pair on its own link of 2; a third flow on link 500 concerns its three flows alone.
  const std::vector<double> capacities(1000, 2.0);
  MaxMinRates shares{capacities};
  for (std::uint32_t l = 0; l < 1000; ++l) {
    for (int twice = 0; twice < 2; ++twice) shares.add(over({l}).links);
  }
  CHECK(shares.solve().size() == 2000);
  const std::uint64_t before = shares.work().flows;
  const FlowId third = shares.add(over({500}).links);
  CHECK(shares.solve().size() == 3);
  CHECK(shares.work().flows - before == 3);
  CHECK(shares.rate(third) == near(2.0 / 3));
  shares.remove(third);
  CHECK(shares.solve().size() == 2);
}

TEST_CASE("of the links that a flow has alone only the tightest counts, whichever that is") {
  // Flows over many links, of which pairs of flows share few. Flows come and go, and links change their capacities.
  constexpr std::uint32_t kLinks = 1200;
  RandomStream random{29, "alone"};
  const auto draw = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random.uniform_integer(0, n - 1)); };
  std::vector<double> capacities;
  for (std::uint32_t l = 0; l < kLinks; ++l) capacities.push_back(1 + draw(4));
  MaxMinRates shares{capacities};
  std::vector<FlowDemand> flows;
  std::vector<FlowId> ids;
  std::size_t alone = 0, shared = 0, capped = 0;
  const int changes = effort(3000);
  for (int change = 0; change < changes; ++change) {
    if (flows.size() < 4 || (flows.size() < 10 && draw(2) == 0)) {
      std::vector<std::uint32_t> links;
      const std::uint32_t first = draw(kLinks);
      for (std::uint32_t i = 0; i < 150; ++i) links.push_back((first + i) % kLinks);
      flows.push_back(over(links, 1 + draw(3), draw(4) == 0 ? 0.2 : 0));
      ids.push_back(shares.add(flows.back().links, flows.back().weight, flows.back().cap));
    } else if (draw(3) == 0) {
      const std::uint32_t f = draw(static_cast<std::uint32_t>(flows.size()));
      shares.remove(ids[f]);
      flows.erase(flows.begin() + f);
      ids.erase(ids.begin() + f);
    } else {
      // The bottleneck of a flow, or any link.
      const LinkId bottleneck = shares.bottleneck(ids[draw(static_cast<std::uint32_t>(flows.size()))]);
      const LinkId link = bottleneck.valid() && draw(2) == 0 ? bottleneck : LinkId{draw(kLinks)};
      capacities[link.index()] = draw(5) == 0 ? 0.5 : 1 + draw(4);
      shares.set_capacity(link, capacities[link.index()]);
    }
    if (draw(3) == 0) continue;  // several changes at one time
    shares.solve();
    const std::vector<double> expected = max_min_rates({capacities, flows});
    for (std::size_t f = 0; f < flows.size(); ++f) {
      REQUIRE(shares.rate(ids[f]) == near(expected[f], 1e-9));
      const LinkId bottleneck = shares.bottleneck(ids[f]);
      if (!bottleneck.valid()) {
        ++capped;
        continue;
      }
      REQUIRE(shares.load(bottleneck) == near(capacities[bottleneck.index()], 1e-9));
      ++(shares.flows_on(bottleneck) == 1 ? alone : shared);
    }
  }
  CHECK(alone > static_cast<std::size_t>(changes) / 2);
  CHECK(shared > static_cast<std::size_t>(changes) / 2);
  CHECK(capped > static_cast<std::size_t>(changes) / 10);
}

TEST_CASE("where every change moves many rates, filling resumes instead of a sweep over links again and again") {
  // Every flow shares links with most others, so that whatever leaves moves most of the levels above its own.
  constexpr std::uint32_t kLinks = 60;
  constexpr int kFlows = kSanitized ? 60 : 600;
  RandomStream random{13, "burst"};
  std::vector<double> capacities;
  for (std::uint32_t l = 0; l < kLinks; ++l) capacities.push_back(1 + random.uniform());
  MaxMinRates shares{capacities};
  MaxMinRates from_scratch{capacities};
  std::vector<FlowId> ids;
  for (int f = 0; f < kFlows; ++f) {
    const auto first = static_cast<std::uint32_t>(random.uniform_integer(0, kLinks - 5));
    const FlowDemand flow = over({first, first + 1, first + 2, first + 4}, 1 + random.uniform());
    ids.push_back(shares.add(flow.links, flow.weight, 0));
    REQUIRE(from_scratch.add(flow.links, flow.weight, 0) == ids.back());
  }
  shares.solve();
  const MaxMinRates::Work before = shares.work();
  std::vector<FlowId> left = ids;
  std::vector<double> known(ids.size(), -1);
  for (const FlowId id : ids) known[id.index()] = shares.rate(id);
  std::size_t changes = 0;
  while (left.size() > static_cast<std::size_t>(kFlows) / 2) {
    const auto gone = static_cast<std::size_t>(random.uniform_integer(0, static_cast<std::int64_t>(left.size()) - 1));
    shares.remove(left[gone]);
    from_scratch.remove(left[gone]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(gone));
    if (changes % 3 == 0) {  // one comes for every third that leaves
      const FlowDemand flow = over({static_cast<std::uint32_t>(changes % kLinks)}, 1, changes % 2 == 0 ? 0.01 : 0);
      left.push_back(shares.add(flow.links, flow.weight, flow.cap));
      REQUIRE(from_scratch.add(flow.links, flow.weight, flow.cap) == left.back());
    }
    ++changes;
    for (const FlowId id : shares.solve()) known[id.index()] = shares.rate(id);
    from_scratch.solve_all();
    for (const FlowId id : left) {
      REQUIRE(shares.rate(id) == near(from_scratch.rate(id), 1e-9));
      REQUIRE(known[id.index()] == shares.rate(id));
      const LinkId bottleneck = shares.bottleneck(id);
      if (bottleneck.valid()) REQUIRE(shares.load(bottleneck) == near(capacities[bottleneck.index()], 1e-9));
    }
  }
  // With a tenth of the flows, as sanitizers see them, sweeps cost little and stay.
  if (!kSanitized) CHECK(shares.work().fills - before.fills > changes * 9 / 10);
  // Looking at a link costs the same everywhere. A sweep looks at each of them several times here.
  CHECK(shares.work().links - before.links < changes * 2 * kLinks);
}

TEST_CASE("after a burst the rates of few flows are swept again") {
  // A bus that all flows cross makes every change move all rates; when it is wide, a change concerns one of the links.
  constexpr std::uint32_t kLinks = 50;
  std::vector<double> capacities(kLinks, 2.0);
  capacities.push_back(10);
  MaxMinRates shares{capacities};
  std::vector<FlowId> ids;
  for (std::uint32_t l = 0; l < kLinks; ++l) {
    for (int twice = 0; twice < 4; ++twice) ids.push_back(shares.add(over({l, kLinks}).links));
  }
  shares.solve();
  const auto swap_flow = [&](std::size_t i) {
    shares.remove(ids[i]);
    ids[i] = shares.add(over({static_cast<std::uint32_t>(i / 4), kLinks}).links, 1 + 1e-3 * static_cast<double>(i + 1));
    return shares.solve().size();
  };
  for (std::size_t i = 0; i < 20; ++i) CHECK(swap_flow(i) == ids.size());
  const std::uint64_t fills = shares.work().fills;
  CHECK(fills > 10);
  shares.set_capacity(LinkId{kLinks}, 1000);
  for (std::size_t i = 20; i < 180; ++i) swap_flow(i);
  const std::uint64_t more = shares.work().fills;
  const std::uint64_t flows = shares.work().flows;
  CHECK(swap_flow(199) == 4);
  CHECK(shares.work().fills == more);
  CHECK(shares.work().flows - flows <= 8);
  CHECK(more - fills < 160);
}

TEST_CASE("the efficiency of a link falls with the number of flows") {
  // 12 with one flow; with k flows and a penalty of 0.5: 12 k / (k + (k-1)/2): 12, 9.6, 9.
  MaxMinRates shares{std::vector<double>{12}};
  shares.set_efficiency(LinkId{0U}, {{}, 0.5});
  const FlowId first = shares.add(over({0}).links);
  shares.solve();
  CHECK(shares.rate(first) == near(12));
  const FlowId second = shares.add(over({0}).links);
  shares.solve();
  CHECK(shares.rate(second) == near(4.8));
  shares.add(over({0}).links);
  shares.solve();
  CHECK(shares.rate(first) == near(3));
  shares.remove(second);
  shares.solve();
  CHECK(shares.rate(first) == near(4.8));
  CHECK(LinkEfficiency{{1.0, 0.9}, 0}.at(7) == near(0.9));
}
