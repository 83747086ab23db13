// Tests components that slow down: how long tasks in progress and later ones take, with leaping and without, and what
// can't be slowed.

#include "sim/error.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/same_result.hpp"
#include "tests/sim/test_kit.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// One job that iterates on the first GPUs of servers with one GPU each.
struct SlowCluster {
  int servers = 1;
  std::string graph;
  std::int64_t iterations = 1;
  FailureSpec failures{};
  bool leap = true;
  Interference interference{};

  [[nodiscard]] RunResult run() const {
    const std::vector<TestJob> jobs{{graph, first_gpus(), iterations}};
    SimulationOptions options;
    options.failures = failures;
    options.leap = leap;
    options.interference = interference;
    Simulation simulation{{servers, 1, Bytes{100}},
                          workload_of(jobs),
                          policies_of({}, jobs),
                          std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(servers), 1),
                          std::move(options)};
    return simulation.run();
  }

  [[nodiscard]] std::vector<std::uint32_t> first_gpus() const {
    std::vector<std::uint32_t> gpus;
    for (int g = 0; g < servers; ++g) gpus.push_back(static_cast<std::uint32_t>(g));
    return gpus;
  }
};

Outage slow(std::int64_t from, std::int64_t until, std::uint32_t first, std::uint32_t last, std::int32_t factor) {
  return {Time::nanoseconds(from), Time::nanoseconds(until), first, last, Slowdown{factor, Slowdown::kFullPace}};
}

std::string synchronous(int ranks, std::int64_t compute, std::int64_t bytes) {
  return "role w " + std::to_string(ranks) + " | compute x w " + std::to_string(compute) + " | all-reduce g w " +
         std::to_string(bytes) + " | x -> g | g => x";
}

}  // namespace

TEST_CASE("one slow GPU slows a synchronous job as much as if all were slow, however many there are") {
  constexpr std::int64_t kIterations = 1000;
  for (const int servers : {2, 8, 64}) {
    SlowCluster cluster{servers, synchronous(servers, 100, 7), kIterations};
    cluster.failures.outages = {slow(1, 1'000'000'000, 1, 2, 1500)};
    const RunResult fast = cluster.run();
    // The first task has run for 1 ns when its GPU slows down: 99 ns are left of it, and take half as long again.
    CHECK(fast.end.ns() == kIterations * (150 + 7));
    CHECK(fast.jobs[0].slowed.ns() == kIterations * 50);
    CHECK(fast.jobs[0].interruptions == 0);
    CHECK(fast.leaps > 0);
    cluster.leap = false;
    CHECK(difference(cluster.run(), fast) == "");
  }
}

TEST_CASE("the rest of a task in progress is stretched, and shortened again") {
  // 40 of 100 are done; of the other 60, which now take 180, 30 pass; 150 are left, which take 50 again.
  SlowCluster cluster{1, "role w 1 | compute x w 100"};
  cluster.failures.outages = {slow(40, 70, 0, 1, 3000)};
  CHECK(cluster.run().end.ns() == 120);
  // A rest of 7 that takes 1.5 times as long is rounded up.
  cluster.failures.outages = {slow(93, 500, 0, 1, 1500)};
  CHECK(cluster.run().end.ns() == 93 + 11);
}

TEST_CASE("of several causes the slowest counts, and a slowdown that begins as another ends changes nothing") {
  SlowCluster cluster{1, "role w 1 | compute x w 100"};
  cluster.failures.outages = {slow(10, 1'000, 0, 1, 2000), slow(20, 50, 0, 1, 3000)};
  // 10 + 5 at half the pace + 10 at a third, until 50; 75 are left, at half the pace.
  CHECK(cluster.run().end.ns() == 50 + 150);
  cluster.failures.outages = {slow(10, 30, 0, 1, 2000), slow(30, 1'000, 0, 1, 2000)};
  CHECK(cluster.run().end.ns() == 10 + 180);
}

TEST_CASE("a chain of tasks that a slowdown strikes goes on task by task") {
  const std::string chain = "role w 4 | compute a w 30 | compute b w 40 | compute c w 30 | a -> b | b -> c | c => a";
  SlowCluster cluster{4, chain, 50};
  cluster.failures.outages = {slow(245, 1'010, 2, 3, 2000), slow(300, 2'000, 0, 4, 1100)};
  const RunResult fast = cluster.run();
  cluster.leap = false;
  CHECK(difference(cluster.run(), fast) == "");
  CHECK(fast.jobs[0].slowed > GpuTime{});
}

TEST_CASE("slowdowns by a law: slowdowns of a component don't depend on leaping, and a factor of 1 changes nothing") {
  const int iterations = effort(20'000);
  SlowCluster cluster{4, synchronous(4, 100, 9), iterations};
  const auto law = [](std::int64_t ns) { return DurationLaw::exponential(Time::nanoseconds(ns)); };
  cluster.failures.components = {{"gpu", 1, false, law(60'000), law(5'000), Slowdown{1300, 1000}}};
  const RunResult fast = cluster.run();
  CHECK(fast.leaps > 0);
  CHECK(fast.failures == 0);
  cluster.leap = false;
  CHECK(difference(cluster.run(), fast) == "");
  // Each of 4 GPUs is slow for 1/13 of the time; the job is as slow as the slowest.
  const double share = 1 - std::pow(60.0 / 65, 4);
  if (!kSanitized) CHECK(fast.end.to_seconds() * 1e9 == near(iterations * (109 + 30 * share), 0.02));
  cluster.failures.components[0].slows = Slowdown{};
  CHECK(cluster.run().end.ns() == iterations * std::int64_t{109});
}

TEST_CASE("jitter: a barrier takes as long as the slowest of independent log-normal times") {
  // Means of the largest of n log-normal numbers with median 1 and sigma 0.1, from their order statistics.
  const std::int64_t iterations = effort(std::int64_t{4'000});
  for (const auto& [ranks, mean] : {std::pair{1, 1.00501252}, {8, 1.15516}, {64, 1.2654153}}) {
    SlowCluster cluster{ranks, synchronous(ranks, 1'000'000, 1), iterations};
    cluster.failures.jitter = 0.1;
    const RunResult result = cluster.run();
    CHECK(result.leapt_events == 0);
    const double step = (result.end.to_seconds() * 1e9 / static_cast<double>(iterations) - (ranks > 1 ? 1 : 0)) / 1e6;
    CHECK(step == near(mean, 4 * 0.1 / std::sqrt(static_cast<double>(iterations))));
  }
}

TEST_CASE("what can't be slowed is refused with the reason") {
  const auto refused = [](const SlowCluster& cluster) {
    try {
      static_cast<void>(cluster.run());
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  SlowCluster cluster{1, "role w 1 | compute x w 100"};
  cluster.failures.outages = {slow(10, 20, 0, 1, 999)};
  CHECK(refused(cluster).find("999 thousandths") != std::string::npos);
  cluster.failures.outages = {{Time::nanoseconds(1), Time::nanoseconds(2), 0, 1, Slowdown{1000, 2000}}};
  CHECK(refused(cluster).find("can't slow transfers down") != std::string::npos);
}
