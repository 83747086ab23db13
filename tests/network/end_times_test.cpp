#include "network/end_times.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("the tree of ends agrees with a search through all of them") {
  RandomStream random{5, "ends"};
  for (int round = 0; round < effort(40); ++round) {
    const std::int64_t size = random.uniform_integer(1, round % 4 == 0 ? 5000 : 40);
    EndTimes ends;
    CHECK(ends.earliest() == Time::never());
    std::vector<Time> plain(static_cast<std::size_t>(size), Time::never());
    for (int step = 0; step < 60; ++step) {
      for (std::int64_t i = random.uniform_integer(0, 20); i > 0; --i) {
        const auto which = static_cast<std::size_t>(random.uniform_integer(0, size - 1));
        plain[which] = random.uniform() < 0.2 ? Time::never() : Time::nanoseconds(random.uniform_integer(0, 1'000));
        ends.set(which, plain[which]);
      }
      const Time least = *std::min_element(plain.begin(), plain.end());
      REQUIRE(ends.earliest() == least);
      const Time now = Time::nanoseconds(random.uniform_integer(0, 300));
      std::vector<std::size_t> due, expected;
      ends.until(now, [&](std::size_t i) { due.push_back(i); });
      for (std::size_t i = 0; i < plain.size(); ++i) {
        if (plain[i] <= now) expected.push_back(i);
      }
      REQUIRE(due == expected);
    }
  }
}
