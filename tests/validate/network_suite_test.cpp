#include "tests/near.hpp"
#include "validate/network/network_cases.hpp"
#include "validate/network/network_simgrid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("every flow ends on the nanosecond that was worked out") {
  CHECK(network_cases().size() >= 10);
  for (const NetworkCase& each : network_cases()) {
    CAPTURE(std::string{each.name});
    const std::vector<std::int64_t> ends = simulate_ends(each);
    REQUIRE(ends.size() == each.flows.size());
    for (std::size_t f = 0; f < ends.size(); ++f) CHECK(ends[f] == each.flows[f].end_ns);
  }
}

TEST_CASE("incast: n flows of 100 MB take n times 8 ms") {
  for (const int senders : {1, 2, 8}) CHECK(simulate_incast(senders) == 8'000'000 * senders);
}

TEST_CASE("a flow that never ends is said not to") {
  CHECK(simulate_ends({"", {1}, {{0, 100, {{0}}, 0}}, {{50, 0, 0}}, 0}) == std::vector<std::int64_t>{-1});
}

TEST_CASE("random cases are of many kinds, repeat with their stream, and end") {
  RandomStream random{3, "cases"};
  RandomStream again{3, "cases"};
  std::vector<std::string> kinds;
  for (int i = 0; i < 60; ++i) {
    const FlowCase made = random_flow_case(random);
    const FlowCase same = random_flow_case(again);
    REQUIRE(made.capacities == same.capacities);
    REQUIRE(made.flows.size() == same.flows.size());
    if (std::find(kinds.begin(), kinds.end(), made.kind) == kinds.end()) kinds.push_back(made.kind);
    const std::vector<double> ends = completions(made);
    for (std::size_t f = 0; f < ends.size(); ++f) {
      REQUIRE(!made.flows[f].links.empty());
      REQUIRE(ends[f] > made.flows[f].start.to_seconds());
    }
  }
  CHECK(kinds.size() >= 7);
}

TEST_CASE("deviations are of the time under way, and no number is no agreement") {
  const FlowCase two{"", {}, {{Time{}, 1, {}}, {Time::nanoseconds(1'000'000'000), 1, {}}}};
  const std::vector<double> ours{1, 1.5};
  CHECK(largest_deviation(two, ours, std::vector<double>{1, 1.5}) == 0);
  CHECK(largest_deviation(two, ours, std::vector<double>{1, 1.4}) == near(0.25));
  const double none = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(largest_deviation(two, ours, std::vector<double>{none, 1.5})));
}
