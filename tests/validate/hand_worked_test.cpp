#include "validate/hand_worked.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::int64_t sum(const std::vector<std::int64_t>& values) {
  std::int64_t total = 0;
  for (const std::int64_t value : values) total += value;
  return total;
}

std::int64_t sum_of_finishes(HandWorkedCase pair, std::string_view communication) {
  pair.communication = communication;
  return sum(simulate_finishes(pair));
}

}  // namespace

TEST_CASE("every case finishes on the nanosecond that was worked out") {
  CHECK(hand_worked_cases().size() >= 8);
  for (const HandWorkedCase& each : hand_worked_cases()) {
    CAPTURE(std::string{each.name});
    const std::vector<std::int64_t> finishes = simulate_finishes(each);
    REQUIRE(finishes.size() == each.jobs.size());
    for (std::size_t i = 0; i < finishes.size(); ++i) CHECK(finishes[i] == each.jobs[i].finish_ns);
  }
}

TEST_CASE("another policy misses the worked times") {
  int missed = 0;
  for (const HandWorkedCase& each : hand_worked_cases()) {
    if (each.communication != "ada-dual") continue;
    CAPTURE(std::string{each.name});
    // Below and at the threshold AdaDUAL starts at once, as SRSF(2) does; above it, it waits, as SRSF(1) does.
    const bool waits = each.name.find("just above") != std::string_view::npos;
    HandWorkedCase other = each;
    other.communication = waits ? "{policy: srsf, ways: 2}" : "{policy: srsf, ways: 1}";
    CHECK(simulate_finishes(other) != simulate_finishes(each));
    ++missed;
  }
  CHECK(missed >= 3);
}

TEST_CASE("AdaDUAL takes the better of its two choices for any two messages") {
  // The new message is ready when `remaining` bytes of the old one are left. Starting is SRSF(2), waiting is SRSF(1).
  int starts = 0, waits = 0;
  for (const std::int64_t remaining : {40, 400, 1000, 4000, 9960}) {
    for (const std::int64_t bytes : {4, 16, 160, 396, 400, 404, 1600, 4000, 20000}) {
      CAPTURE(remaining);
      CAPTURE(bytes);
      const HandWorkedCase pair{"", "", {{1000, 10000, {0, 1}, 0}, {11000 - remaining, bytes, {1, 2}, 0}}};
      const std::int64_t start = sum_of_finishes(pair, "{policy: srsf, ways: 2}");
      const std::int64_t wait = sum_of_finishes(pair, "{policy: srsf, ways: 1}");
      CHECK(sum_of_finishes(pair, "ada-dual") == std::min(start, wait));
      (start < wait ? starts : waits) += 1;
    }
  }
  CHECK(starts > 5);
  CHECK(waits > 5);
}
