#include "results/iteration_figures.hpp"
#include "scenarios/sweep/expected.hpp"
#include "tests/scenarios/sweep_kit.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

StoreRun run_of(std::int64_t point, double finished, RunStatus status = RunStatus::done) {
  StoreRun run;
  run.point = point;
  run.status = status;
  for (const Metric& each : metrics()) run.metrics.push_back(each.name == "finished" ? finished : 0);
  return run;
}

}  // namespace

TEST_CASE("a point is held against its bounds by the mean over its runs") {
  const SweepPlan plan = plan_of(small_sweep("{repeat: 3, grid: {network.nic: [1Gbps, 10Gbps, 25Gbps]}}") +
                                 "expect: {finished: \">= 8\"}\n");
  CHECK(plan.expects());
  // Point 0: mean 8 over 6, 10 and 8. Point 1: 7 over what came to its end. Point 2 has nothing.
  const std::vector<StoreRun> runs{run_of(0, 6), run_of(0, 10), run_of(0, 8), run_of(1, 7),
                                   run_of(1, 99, RunStatus::failed)};
  const std::vector<PointOutcome> judged = judge_points(plan, runs);
  REQUIRE(judged.size() == 2);
  CHECK(judged[0].point == 0);
  CHECK(all_met(judged[0].outcomes));
  CHECK(judged[1].point == 1);
  CHECK_FALSE(all_met(judged[1].outcomes));
  CHECK(judged[1].outcomes.front().reason == "7");
}

TEST_CASE("a sweep may vary what is expected") {
  const SweepPlan plan = plan_of(small_sweep("{grid: {expect.finished: [8, 9]}}"));
  CHECK(plan.expects());
  const std::vector<StoreRun> runs{run_of(0, 8), run_of(1, 8)};
  const std::vector<PointOutcome> judged = judge_points(plan, runs);
  REQUIRE(judged.size() == 2);
  CHECK(all_met(judged[0].outcomes));
  CHECK_FALSE(all_met(judged[1].outcomes));
}

TEST_CASE("a sweep that expects nothing judges nothing") {
  const SweepPlan plan = plan_of(small_sweep("{grid: {network.nic: [1Gbps, 10Gbps]}}"));
  CHECK_FALSE(plan.expects());
  const std::vector<StoreRun> runs{run_of(0, 0)};
  CHECK(judge_points(plan, runs).empty());
}
