// How much MaxMinRates does: which changes it sweeps and which it fills, and how far back. The rates are tested
// elsewhere; the counts here are the counts of the rules in max_min_switch.cpp and max_min_fill.cpp, and change with
// them.

#include "network/max_min_rates.hpp"
#include "sim/random_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

/// Flows that come and go on links of 1 to 2, and what that cost.
class Traffic {
 public:
  Traffic(std::uint32_t links, std::uint64_t seed)
      : random_{seed, "work"}, links_{links}, rates_{capacities(links, random_)} {}

  /// Adds a flow over `crossed` links that follow each other, the last of all among them if `bus`.
  void add(std::uint32_t crossed, bool bus, double cap = 0) {
    const auto first = static_cast<std::uint32_t>(random_.uniform_integer(0, links_ - crossed - 1));
    std::vector<LinkShare> route;
    for (std::uint32_t l = 0; l < crossed; ++l) route.push_back({LinkId{first + l}, 1});
    if (bus) route.push_back({LinkId{links_ - 1}, 1});
    ids_.push_back(rates_.add(route, 1 + random_.uniform(), cap));
  }
  void remove() {
    const auto gone = static_cast<std::size_t>(random_.uniform_integer(0, std::ssize(ids_) - 1));
    rates_.remove(ids_[gone]);
    ids_.erase(ids_.begin() + static_cast<std::ptrdiff_t>(gone));
  }
  void set_bus(double capacity) { rates_.set_capacity(LinkId{links_ - 1}, capacity); }
  std::size_t solve() { return rates_.solve().size(); }

  /// Since the last call.
  [[nodiscard]] std::string work() {
    const MaxMinRates::Work now = rates_.work(), last = std::exchange(last_, now);
    return fmt::format("{} solves, {} fills, {} links, {} scans, {} flows", now.solves - last.solves,
                       now.fills - last.fills, now.links - last.links, now.scans - last.scans, now.flows - last.flows);
  }

 private:
  static std::vector<double> capacities(std::uint32_t links, RandomStream& random) {
    std::vector<double> all;
    for (std::uint32_t l = 0; l < links; ++l) all.push_back(1 + random.uniform());
    return all;
  }

  RandomStream random_;
  std::uint32_t links_;
  MaxMinRates rates_;
  std::vector<FlowId> ids_;
  MaxMinRates::Work last_;
};

}  // namespace

TEST_CASE("max-min work: a network that fills up and empties") {
  Traffic traffic{40, 1};
  for (int i = 0; i < 300; ++i) {
    traffic.add(1 + static_cast<std::uint32_t>(i) % 4, false, i % 10 == 0 ? 0.01 : 0);
    traffic.solve();
  }
  CHECK(traffic.work() == "300 solves, 0 fills, 4014 links, 1820 scans, 5201 flows");
  for (int i = 0; i < 100; ++i) {
    traffic.remove();
    traffic.add(3, false);
    traffic.solve();
  }
  CHECK(traffic.work() == "100 solves, 99 fills, 8278 links, 3310 scans, 20817 flows");
  for (int i = 0; i < 280; ++i) {
    traffic.remove();
    traffic.solve();
  }
  CHECK(traffic.work() == "280 solves, 237 fills, 14418 links, 5523 scans, 25516 flows");
}

TEST_CASE("max-min work: a bus that is narrow, wide and narrow again") {
  Traffic traffic{60, 2};
  for (int i = 0; i < 240; ++i) traffic.add(1, true);
  CHECK(traffic.solve() == 240);
  CHECK(traffic.work() == "1 solves, 1 fills, 59 links, 1 scans, 240 flows");
  const auto change = [&](int times) {
    for (int i = 0; i < times; ++i) {
      traffic.remove();
      traffic.add(1, true);
      traffic.solve();
    }
    return traffic.work();
  };
  CHECK(change(30) == "30 solves, 29 fills, 1830 links, 85 scans, 7200 flows");
  traffic.set_bus(1000);
  traffic.solve();
  CHECK(change(150) == "151 solves, 15 fills, 1645 links, 1077 scans, 3790 flows");
  traffic.set_bus(2);
  traffic.solve();
  CHECK(change(30) == "31 solves, 29 fills, 1914 links, 88 scans, 7440 flows");
}

TEST_CASE("max-min work: many that come at once") {
  Traffic traffic{30, 3};
  for (int burst = 0; burst < 6; ++burst) {
    for (int i = 0; i < 20 << burst; ++i) traffic.add(2, false);
    traffic.solve();
    for (int i = 0; i < 10 << burst; ++i) traffic.remove();
    traffic.solve();
  }
  CHECK(traffic.work() == "12 solves, 10 fills, 462 links, 201 scans, 3022 flows");
  for (int i = 0; i < 40; ++i) {
    traffic.remove();
    traffic.solve();
  }
  CHECK(traffic.work() == "40 solves, 40 fills, 992 links, 429 scans, 13688 flows");
}

TEST_CASE("max-min work: few flows on many links") {
  Traffic traffic{2000, 4};
  for (int i = 0; i < 200; ++i) {
    traffic.add(2, false);
    traffic.solve();
  }
  CHECK(traffic.work() == "200 solves, 0 fills, 301 links, 45 scans, 235 flows");
  for (int i = 0; i < 50; ++i) {
    traffic.remove();
    traffic.add(900, false);
    traffic.solve();
  }
  CHECK(traffic.work() == "50 solves, 46 fills, 111036 links, 9207 scans, 9700 flows");
}
