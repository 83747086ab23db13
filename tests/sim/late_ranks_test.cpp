// Tests iterations that leave late ranks behind (Role::late): when they go on, what late ranks drop, and that leaping
// changes nothing. Means are held against order statistics.

#include "sim/error.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/same_result.hpp"
#include "tests/sim/test_kit.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

/// A job of iterations on one GPU of each server, some of which are slow from 1 ns on.
struct LateCluster {
  int servers = 4;
  std::string graph;
  std::int64_t iterations = 1;
  std::vector<std::int32_t> slow{};  ///< of the last servers, in thousandths of the time
  double jitter = 0;

  [[nodiscard]] RunResult run(bool leap) const {
    std::vector<std::uint32_t> gpus;
    for (int g = 0; g < servers; ++g) gpus.push_back(static_cast<std::uint32_t>(g));
    const std::vector<TestJob> jobs{{graph, gpus, iterations}};
    SimulationOptions options;
    options.leap = leap;
    options.failures.jitter = jitter;
    for (std::size_t i = 0; i < slow.size(); ++i) {
      const auto first = static_cast<std::uint32_t>(static_cast<std::size_t>(servers) - slow.size() + i);
      options.failures.outages.push_back(
          {Time::nanoseconds(1), Time::seconds(1'000'000), first, first + 1, Slowdown{slow[i], Slowdown::kFullPace}});
    }
    Simulation simulation{{servers, 1, Bytes{100}},
                          workload_of(jobs),
                          policies_of({}, jobs),
                          std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(servers), 1),
                          std::move(options)};
    return simulation.run();
  }

  /// The result, which is the same event by event.
  [[nodiscard]] RunResult run() const {
    RunResult fast = run(true);
    CHECK(difference(run(false), fast) == "");
    GpuTime busy;
    for (const GpuResult& gpu : fast.gpus) busy += GpuTime{gpu.busy, 1};
    const JobResult& job = fast.jobs[0];
    CHECK(busy == job.compute + job.slowed - job.skipped);
    CHECK(job.compute.ns() == Int128{iterations} * servers * 100);
    return fast;
  }
};

std::string synchronous(int ranks, int late) {
  return fmt::format("role w {} | late w {} | compute x w 100 | all-reduce g w 7 | x -> g | g => x", ranks, late);
}

std::string refused(const std::string& graph) {
  try {
    static_cast<void>(graph_from_text(graph));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a step goes on without the slow rank, and drops the work that it has left") {
  constexpr std::int64_t kIterations = 1000;
  LateCluster cluster{4, synchronous(4, 1), kIterations, {3000}};
  const RunResult result = cluster.run();
  CHECK(result.end.ns() == kIterations * (100 + 7));
  CHECK(result.jobs[0].left_behind == kIterations);
  CHECK(result.jobs[0].dropped.ns() == kIterations * 100);
  CHECK(result.jobs[0].slowed == GpuTime{});
  CHECK(result.leaps > 0);
  cluster.graph = synchronous(4, 0);
  CHECK(cluster.run().end.ns() > kIterations * 300);
}

TEST_CASE("of two slow ranks the step waits for the faster one if it may leave one behind") {
  LateCluster cluster{4, synchronous(4, 1), 50, {1500, 3000}};
  // In the first nanosecond both are still as fast as the others: 99 are left, which take 149 (rounded up).
  CHECK(cluster.run().end.ns() == (1 + 149 + 7) + 49 * (150 + 7));
  cluster.graph = synchronous(4, 2);
  CHECK(cluster.run().end.ns() == 50 * (100 + 7));
}

TEST_CASE("ranks that finish together with the last one that is awaited are not late") {
  LateCluster cluster{4, synchronous(4, 1), 50, {1500, 1500}};
  const RunResult result = cluster.run();
  CHECK(result.jobs[0].left_behind == 0);
  CHECK(result.jobs[0].dropped == GpuTime{});
  CHECK(result.end.ns() == 50 * (150 + 7));
  // Without any slow rank, tolerance changes nothing.
  cluster.slow.clear();
  const RunResult tolerant = cluster.run();
  cluster.graph = synchronous(4, 0);
  CHECK(tolerant.digest == cluster.run().digest);
}

TEST_CASE("with several messages each begins without the late rank, which works until all have begun") {
  const std::string graph =
      "role w 3 | late w 1 | compute f w 30 | compute b w 40 | compute c w 30 | all-reduce g w 50 | all-reduce h w 5 | "
      "f -> b | b -> c | b -> g | c -> h | c => f | g => f | h => f";
  LateCluster cluster{3, graph, 2, {2000}};
  const RunResult result = cluster.run();
  // Two ranks send g at 70, until 120, and h at 100, until 105. At 100 the slow one has done f, which ended at 59, and
  // 41 of the 80 that b takes; b and c are dropped.
  CHECK(result.end.ns() == 120 + 120);
  CHECK(result.jobs[0].left_behind == 2);
  CHECK(result.jobs[0].dropped.ns() == 41 + 40);
  CHECK(result.jobs[0].slowed.ns() == 29 + 30);
  CHECK(result.gpus[2].busy.ns() == 100 + 100);
}

TEST_CASE("jitter: a step takes as long as the order statistic of log-normal times says") {
  // Means of the (n - b)-th of n log-normal numbers with median 1 and sigma 0.3, by Simpson's rule over its density.
  struct Case {
    int ranks, late;
    double mean;
  };
  const std::int64_t iterations = effort(std::int64_t{4'000});
  for (const auto& [ranks, late, mean] : {Case{8, 1, 1.30543729}, Case{16, 4, 1.19225577}, Case{64, 4, 1.55546147}}) {
    LateCluster cluster{
        ranks,
        fmt::format("role w {} | late w {} | compute x w 1000000 | all-reduce g w 1 | x -> g | g => x", ranks, late),
        iterations};
    cluster.jitter = 0.3;
    const RunResult result = cluster.run(true);
    const double step = (result.end.to_seconds() * 1e9 / static_cast<double>(iterations) - 1) / 1e6;
    CHECK(step == near(mean, 4 * 0.3 / std::sqrt(static_cast<double>(iterations))));
    CHECK(result.jobs[0].left_behind == iterations * late);
  }
}

TEST_CASE("with patience a step waits for as long again as the fastest rank took, and then for all where it must") {
  const auto graph = [](int late, const std::string& patience) {
    return fmt::format("role w 4 | late w {} {} | compute x w 100 | all-reduce g w 7 | x -> g | g => x", late,
                       patience);
  };
  // One straggler in two steps, none twice in a row: rank 3 is left behind at 200, and waited for in the next step.
  LateCluster cluster{4, graph(1, "1000 1 2"), 1000, {3000}};
  const RunResult one = cluster.run();
  CHECK(one.end.ns() == 500 * (207 + 307));
  CHECK(one.jobs[0].left_behind == 500);
  CHECK(one.jobs[0].dropped.ns() == 500 * 200);
  CHECK(one.jobs[0].slowed.ns() == 500 * 200);
  CHECK(one.leaps > 0);
  // In bursts of two, in three steps: left behind in two of four.
  cluster.graph = graph(1, "1000 2 3");
  CHECK(cluster.run().end.ns() == 250 * (2 * 207 + 2 * 307));
  // In a window of one step it is always left behind.
  cluster.graph = graph(1, "1000 1 1");
  CHECK(cluster.run().end.ns() == 1000 * 207);
  // With less patience sooner: 100 x 1.2345 = 123.45, rounded up.
  cluster.graph = graph(1, "234 1 1");
  CHECK(cluster.run().end.ns() == 1000 * (124 + 7));
  cluster.graph = graph(1, "0 1 1");
  CHECK(cluster.run().end.ns() == 1000 * 107);
  // Two stragglers are one too many, so that all are waited for: the first step has 1 ns at full speed.
  cluster.graph = graph(1, "1000 1 1");
  cluster.slow = {3000, 3000};
  CHECK(cluster.run().end.ns() == 305 + 999 * 307);
  cluster.graph = graph(2, "1000 1 2");
  CHECK(cluster.run().end.ns() == 500 * (207 + 307));
  // Who ends as the patience does is not late, and who ends before ends the step.
  cluster.slow = {2000};
  CHECK(cluster.run().end.ns() == 206 + 999 * 207);
  cluster.slow = {1500};
  CHECK(cluster.run().end.ns() == 1000 * 157);
}

TEST_CASE("with patience late ranks miss all messages of a step that have not begun") {
  const std::string graph =
      "role w 3 | late w 1 1000 1 1 | compute f w 30 | compute b w 40 | compute c w 40 | all-reduce g w 50 | "
      "all-reduce h "
      "w 5 | f -> b | b -> c | b -> g | c -> h | c => f | g => f | h => f";
  LateCluster cluster{3, graph, 2, {3000}};
  for (const bool leap : {true, false}) {
    // Two ranks have done all at 110, so that the third is late at 220. It has done f at 88 and b at 208, when g began,
    // and has run 12 of c. In the second step it has done b at 210.
    const RunResult result = cluster.run(leap);
    CHECK(result.end.ns() == (208 + 50) + (210 + 50));
    CHECK(result.jobs[0].left_behind == 2);
    CHECK(result.jobs[0].dropped.ns() == 12 + 10);
  }
}

TEST_CASE("graphs in which no rank can be left behind are refused with the reason") {
  CHECK(refused(synchronous(4, 4)).find("4 of the 4 ranks of `w` can't be left behind") != std::string::npos);
  CHECK(refused("role w 4 | late w 1 1000 2 1 | compute x w 9 | all-reduce g w 1 | x -> g | g => x")
            .find("bursts of 2 iterations in windows of 1") != std::string::npos);
  CHECK(refused("role a 2 | role b 2 | late a 1 5 1 1 | late b 1 | compute x a 9 | compute y b 9")
            .find("only ranks of") != std::string::npos);
  CHECK(refused("role w 4 | late w 1 | compute x w 9 | compute y w 9 | all-reduce g w 1 | x -> g | y -> g | g => x")
            .find("`g`, which waits for more than one task") != std::string::npos);
  CHECK(refused("role a 2 | role b 2 | late a 1 | compute x a 9 | compute y b 9 | x -> y").find("wait for those of") !=
        std::string::npos);
  CHECK(refused("role a 2 | role b 2 | late a 1 | compute x a 9 | message m a b 9 | x -> m").find("messages of its") !=
        std::string::npos);
}
