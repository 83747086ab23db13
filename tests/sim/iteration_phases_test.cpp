// Tests the phases of iterations: which iteration is in which phase, and jobs whose iterations differ.

#include "sim/iteration_phases.hpp"
#include "sim/error.hpp"
#include "tests/sim/test_kit.hpp"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

void check_counts(const IterationPhases& phases, std::int64_t iterations) {
  for (std::int64_t from = 0; from <= iterations; ++from) {
    std::vector<std::int64_t> left(phases.count(), 0);
    for (std::int64_t i = from; i < iterations; ++i) ++left[phases.at(i, iterations)];
    for (std::size_t phase = 0; phase < left.size(); ++phase)
      CHECK(phases.left(phase, from, iterations) == left[phase]);
  }
}

}  // namespace

TEST_CASE("phases of a cycle come in turn, a warm-up comes once") {
  const IterationPhases cycle = IterationPhases::cycle({2, 1, 3});
  std::vector<std::size_t> order;
  for (std::int64_t i = 0; i < 8; ++i) order.push_back(cycle.at(i, 100));
  CHECK(order == std::vector<std::size_t>{0, 0, 1, 2, 2, 2, 0, 0});
  CHECK(cycle.count() == 3);
  CHECK(cycle.cycle_length() == 6);
  CHECK(cycle.shares() == std::vector<double>{2.0 / 6, 1.0 / 6, 3.0 / 6});
  CHECK(cycle.repeats());
  CHECK(cycle.regular_until(1, 100) == 100);

  const IterationPhases warm_up = IterationPhases::warm_up(0.25);
  CHECK(warm_up.count() == 2);
  CHECK_FALSE(warm_up.repeats());
  CHECK(warm_up.cycle_length() == 1);
  CHECK(warm_up.shares() == std::vector<double>{0.25, 0.75});
  CHECK(warm_up.at(24, 100) == 0);
  CHECK(warm_up.at(25, 100) == 1);
  CHECK(warm_up.regular_until(24, 100) == 25);
  CHECK(warm_up.regular_until(25, 100) == 100);

  CHECK(IterationPhases{}.count() == 1);
  CHECK(IterationPhases{}.at(7, 8) == 0);
  CHECK(IterationPhases{}.left(0, 3, 8) == 5);
}

TEST_CASE("the iterations left of a phase are those that come") {
  for (std::int64_t iterations = 0; iterations < 20; ++iterations) {
    check_counts(IterationPhases::cycle({1, 1}), iterations);
    check_counts(IterationPhases::cycle({3, 1}), iterations);
    check_counts(IterationPhases::cycle({2, 4, 1}), iterations);
    for (const double share : {0.0, 0.3, 0.5, 1.0}) check_counts(IterationPhases::warm_up(share), iterations);
  }
}

TEST_CASE("a job that sends in every fourth iteration, or in the first quarter") {
  constexpr std::int64_t kBillion = 1'000'000'000;
  const std::string iteration =
      "role w 2 | compute f w 10 | compute k w 4 | all-reduce g w 30 | f -> k | k -> g | g => f";
  const std::string cycle = iteration + " | cycle 3 1 | phase 1 g | phase 1 k";
  const std::string warm_up = iteration + " | warm-up 0.25 | phase 0 g | phase 0 k";
  for (const std::string& graph : {cycle, warm_up}) {
    const Run run = simulate({2, 1}, {{graph, {0, 1}, 400}});  // equal to event by event
    CHECK(run.result.jobs[0].finish.ns() == 300 * 10 + 100 * 44);
    CHECK(run.result.jobs[0].compute.ns() == 2 * (400 * 10 + 100 * 4));
    CHECK(run.result.jobs[0].communication.ns() == 100 * 30);
    const RunResult long_run = simulate_once({2, 1}, {{graph, {0, 1}, 4 * kBillion}}, true);
    CHECK(long_run.jobs[0].finish.ns() == kBillion * (3 * 10 + 44));
    CHECK(long_run.events < 1000);
    CHECK(long_run.events + long_run.leapt_events == 1 + static_cast<std::uint64_t>(kBillion) * (4 * 2 + 2 + 1));
    CHECK(long_run.links[0].bytes == Bytes{30 * kBillion});
  }
}

TEST_CASE("what an iteration waits for depends on the phase of the one before") {
  // In phase 0 `a` is sent beside b and the next f waits for it; in phase 1 nothing is. f 10, b 20, a 25 from 10 on.
  const Run run =
      simulate({2, 1}, {{"role w 2 | compute f w 10 | compute b w 20 | all-reduce a w 25 | f -> b | f -> a | "
                         "b => f | a => f | cycle 1 1 | phase 0 a",
                         {0, 1},
                         5}});
  CHECK(run.result.jobs[0].finish.ns() == 35 + 30 + 35 + 30 + 35);
}

TEST_CASE("graphs refuse phases that they don't have or that are empty") {
  CHECK_THROWS_AS(static_cast<void>(graph_from_text("role w 1 | compute f w 1 | phase 1 f")), InputError);
  CHECK_THROWS_AS(static_cast<void>(graph_from_text("role w 1 | compute f w 1 | cycle 1 1 | phase 0 f")), InputError);
  CHECK_THROWS_AS(static_cast<void>(graph_from_text("role w 1 | compute f w 1 | warm-up 1.5")), InputError);
  CHECK_THROWS_AS(static_cast<void>(graph_from_text("role w 1 | compute f w 1 | cycle 0 1")), InputError);
}
