// Tests when the fast executor stops; what it executes is compared with the engine in tests/policies/fusion.

#include "models/overlap/steady_state.hpp"
#include "tests/near.hpp"

#include <cstdint>

#include <doctest/doctest.h>

using namespace contend;

namespace {

SteadyState settled(const char* graph, std::int64_t limit) {
  SteadyStateOptions options;
  options.limit = limit;
  const LinearCost two_ns_a_byte{Time{}, TimePerByte{2}};
  return steady_state(graph_from_text(graph), ExchangeCost::measured(two_ns_a_byte), options);
}

}  // namespace

TEST_CASE("a job that does the same in every iteration recurs after one") {
  // f 0-10, g 10-30, f 30-40: 30 an iteration.
  const SteadyState found = settled("role w 2 | compute f w 10 | all-reduce g w 10 | f -> g | g => f", 8);
  CHECK(found.recurs);
  CHECK(found.period == 1);
  CHECK(found.iteration_ns == near(30));
}

TEST_CASE("a job that doesn't settle within the limit is measured over the last half of as many iterations") {
  // The ranks of `a` take 100, the ranks of `b` 101, and neither waits for the other, so `a` gets 1 ns further ahead in
  // each iteration. That ends when it is a whole iteration ahead: at most two are in flight.
  const char* const kApart = "role a 1 | role b 1 | compute x a 100 | compute y b 101";
  const SteadyState cut = settled(kApart, 9);
  CHECK_FALSE(cut.recurs);
  CHECK(cut.ends.size() == 9);
  CHECK(cut.warm_up == 4);
  CHECK(cut.period == 5);
  CHECK(cut.iteration_ns == near(100));
  const SteadyState whole = settled(kApart, 1000);
  CHECK(whole.recurs);
  CHECK(whole.warm_up > 90);
  CHECK(whole.iteration_ns == near(101));
}
