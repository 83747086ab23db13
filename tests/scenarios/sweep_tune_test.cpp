// Searches over functions that are known, in place of simulations.

#include "scenarios/sweep/tuner.hpp"
#include "sim/random_stream.hpp"
#include "tests/scenarios/sweep_kit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// 21 x 21 points; numbers of both parameters are 1 to 21.
SweepPlan square(int repeat = 1) {
  return plan_of(small_sweep("{repeat: " + std::to_string(repeat) +
                             ", grid: {cluster.servers: {from: 1, to: 21, step: 1}, "
                             "cluster.gpus_per_server: {from: 4, to: 24, step: 1}}}"));
}

/// Answers with `value(x, y, seed)` for points 1..21 x 1..21, and counts.
struct Oracle {
  const SweepPlan& plan;
  std::function<double(double, double, std::int64_t)> value;
  double unfinished_below = -1e9;  ///< in runs with smaller values one of ten jobs does not finish
  std::set<std::int64_t> asked{};
  std::size_t largest = 0;  ///< request

  std::vector<StoreRun> operator()(std::span<const std::int64_t> runs) {
    largest = std::max(largest, runs.size());
    std::vector<StoreRun> done;
    for (const std::int64_t run : runs) {
      CHECK(asked.insert(run).second);
      StoreRun& each = done.emplace_back();
      each.run = run;
      each.point = plan.point_of(run);
      const double v = value(1 + static_cast<double>(each.point / 21), 1 + static_cast<double>(each.point % 21),
                             run % plan.info().repeat);
      if (std::isnan(v)) each.status = RunStatus::failed;
      each.metrics.assign(plan.info().metrics.size(), v);
      for (std::size_t i = 0; i < plan.info().metrics.size(); ++i) {
        const std::string& name = plan.info().metrics[i].name;
        if (name == "jobs" || name == "finished") each.metrics[i] = name == "finished" && v < unfinished_below ? 9 : 10;
      }
    }
    return done;
  }
};

std::size_t metric_of(const SweepPlan& plan) {
  const auto& metrics = plan.info().metrics;
  return static_cast<std::size_t>(
      std::find_if(metrics.begin(), metrics.end(), [](const StoreMetric& m) { return m.name == "avg_jct_s"; }) -
      metrics.begin());
}

double bowl(double x, double y, std::int64_t) {
  return (x - 15) * (x - 15) + 2 * (y - 6) * (y - 6);
}

}  // namespace

TEST_CASE("bayes: the bottom of a bowl of 441 points in 40 trials") {
  const SweepPlan plan = square();
  REQUIRE(plan.points().size() == 441);
  Oracle oracle{plan, bowl};
  TuneOptions options;
  options.metric = metric_of(plan);
  options.trials = 40;
  const TuneResult result = tune(plan, options, std::ref(oracle));
  CHECK(result.tried == 40);
  CHECK(result.runs == 40);
  REQUIRE(!result.points.empty());
  CHECK(result.points.front().point == (15 - 1) * 21 + (6 - 1));
  CHECK(result.points.front().figure.mean == 0);
  // Upside down it is the same search.
  Oracle inverse{plan, [](double x, double y, std::int64_t seed) { return -bowl(x, y, seed); }};
  options.maximise = true;
  CHECK(tune(plan, options, std::ref(inverse)).points.front().point == result.points.front().point);
  CHECK(inverse.asked == oracle.asked);
}

TEST_CASE("bayes: points at once, and points that can't be run") {
  const SweepPlan plan = square();
  // Nothing below the diagonal works; the best that does is on it.
  Oracle oracle{plan, [](double x, double y, std::int64_t seed) {
                  return x > y ? std::numeric_limits<double>::quiet_NaN() : bowl(x, y, seed);
                }};
  TuneOptions options;
  options.metric = metric_of(plan);
  options.trials = 60;
  options.batch = 4;
  const TuneResult result = tune(plan, options, std::ref(oracle));
  CHECK(result.tried == 60);
  CHECK(result.useless > 0);
  CHECK(static_cast<std::int64_t>(result.points.size()) + result.useless == 60);
  // bowl on x = y is least at x = 9, 36 + 18 = 54; the next best is (8, 8), 49 + 8 = 57. One of these two of 231.
  CHECK(result.points.front().figure.mean <= 57);
  for (const TunedPoint& each : result.points) CHECK(std::isfinite(each.figure.mean));
}

TEST_CASE("halving: more seeds for the better points") {
  const SweepPlan plan = square(9);
  // Noise of several units, so that one seed can't tell.
  Oracle oracle{
      plan, [](double x, double y, std::int64_t seed) {
        RandomStream noise{static_cast<std::uint64_t>(x * 1000 + y * 10) + static_cast<std::uint64_t>(seed), "noise"};
        return bowl(x, y, 0) + static_cast<double>(noise.uniform_integer(-4, 4));
      }};
  TuneOptions options;
  options.metric = metric_of(plan);
  options.method = TuneMethod::halving;
  options.trials = 441;
  const TuneResult result = tune(plan, options, std::ref(oracle));
  // 441 under one seed, 147 under two more each, 49 under six more each.
  CHECK(result.runs == 441 + 147 * 2 + 49 * 6);
  CHECK(result.points.size() == 49);
  CHECK(result.points.front().figure.count == 9);
  CHECK(result.points.front().figure.mean < 5);
  CHECK(static_cast<std::size_t>(result.runs) == oracle.asked.size());
}

TEST_CASE("a search that is cut short says what it has") {
  const SweepPlan plan = square();
  Oracle oracle{plan, bowl};
  int calls = 0;
  const TuneRunner runner = [&](std::span<const std::int64_t> runs) {
    return oracle(++calls > 3 ? runs.first(0) : runs);
  };
  const TuneResult result = tune(plan, {.metric = metric_of(plan), .trials = 40}, runner);
  CHECK(calls == 4);
  CHECK(result.runs == static_cast<std::int64_t>(oracle.asked.size()));
  CHECK(!result.points.empty());
}

TEST_CASE("a point where not all jobs finish is worth nothing, however short the others are") {
  const SweepPlan plan = square();
  Oracle oracle{plan, bowl};
  oracle.unfinished_below = 54;
  const TuneResult result = tune(plan, {.metric = metric_of(plan), .trials = 60}, std::ref(oracle));
  CHECK(result.useless > 0);
  CHECK(result.points.front().figure.mean >= 54);
}

TEST_CASE("coordinates: ranks of numbers, a direction for each word, nothing for what doesn't vary") {
  const SweepPlan plan = plan_of(small_sweep(
      "{grid: {network.nic: [1Gbps, 10Gbps, 100Gbps], policies.scheduling: [fifo, srsf], cluster.servers: [4]}}"));
  const auto places = tune_coordinates(plan.info(), plan.points());
  REQUIRE(places.size() == 6);
  const double half = std::sqrt(0.5);
  CHECK(places[0] == std::vector<double>{0, half, 0});
  CHECK(places[1] == std::vector<double>{0, 0, half});
  CHECK(places[2] == std::vector<double>{0.5, half, 0});
  CHECK(places[5] == std::vector<double>{1, 0, half});
}
