// These tests run random clusters with leaping and event by event. No reported result may differ.
//   CONTEND_EFFORT=20 test_policies -tc='leaping lands*'      20 times as many cases
//   CONTEND_LEAP_SEED=4711 test_policies -tc='leaping lands*'     this case only

#include "sim/graph.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/policies/random_cluster.hpp"
#include "tests/sim/same_result.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;
using namespace contend::test;

namespace {

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

/// All GPU time went into work that was kept or lost, or into interference. A job that still runs has unfinished tasks
/// besides.
void check_gpu_time(const RunResult& result) {
  GpuTime busy, spent;
  for (const GpuResult& gpu : result.gpus) busy += GpuTime{gpu.busy, 1};
  for (const JobResult& job : result.jobs) {
    if (job.state == JobState::running) return;
    spent += job.compute + job.slowed + job.lost;
  }
  CHECK(busy == spent);
}

/// Gives the graphs of a cluster phases, and puts each operation but the first into one of them or into all.
void add_phases(RandomCluster& cluster) {
  constexpr const char* kPhases[] = {"cycle 1 1", "cycle 3 1", "cycle 2 5", "warm-up 0.3", "warm-up 0.05"};
  RandomStream random{cluster.seed, "phases"};
  const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
  for (std::string& text : cluster.graphs) {
    const IterationGraph graph = graph_from_text(text);
    text += fmt::format(" | {}", kPhases[in(0, 4)]);
    for (std::size_t i = 1; i < graph.ops().size(); ++i) {
      if (in(0, 2) == 0) text += fmt::format(" | phase {} {}", in(0, 1), graph.ops()[i].name);
    }
  }
}

}  // namespace

TEST_CASE("leaping lands on the same nanosecond as event by event, on random clusters") {
  constexpr std::uint64_t kNoSeed = UINT64_MAX;
  const std::uint64_t only = number_from_environment("CONTEND_LEAP_SEED", kNoSeed);
  const std::uint64_t first = only == kNoSeed ? 0 : only;
  const std::uint64_t cases = only == kNoSeed ? effort(std::uint64_t{600}) : 1;
  std::uint64_t events = 0, leapt = 0, cases_with_leaps = 0, finished = 0, jobs = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const RandomCluster cluster = random_cluster(seed);
    INFO(cluster.describe());
    const RunResult slow = cluster.run(false);
    const RunResult fast = cluster.run(true);
    CHECK(difference(slow, fast) == "");
    CHECK(slow.leaps == 0);
    events += slow.events;
    leapt += fast.leapt_events;
    cases_with_leaps += fast.leaps > 0 ? 1 : 0;
    jobs += slow.jobs.size();
    check_gpu_time(slow);
    for (const JobResult& job : slow.jobs) finished += job.state == JobState::finished ? 1 : 0;
  }
  MESSAGE(cases, " cases, ", events, " events, ", leapt, " leapt, ", cases_with_leaps, " cases with leaps");
  if (only != kNoSeed) return;
  // The generator has to keep its coverage: most jobs run, and nearly every run leaps.
  CHECK(finished * 3 > jobs * 2);
  CHECK(cases_with_leaps * 2 > cases);
  CHECK(leapt * 5 > events);
}

TEST_CASE("leaping lands on the same nanosecond if computing and communicating slow each other") {
  const std::uint64_t cases = effort(std::uint64_t{300});
  std::uint64_t cases_with_leaps = 0, slower = 0, leapt = 0, events = 0;
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomCluster cluster = random_cluster(seed);
    const RunResult free = cluster.run(true);
    cluster.interference = {seed % 4 == 0 ? 0 : 250'000, seed % 3 == 0 ? 0 : 100'000 + static_cast<int>(seed % 5)};
    INFO(cluster.describe());
    const RunResult slow = cluster.run(false);
    const RunResult fast = cluster.run(true);
    CHECK(difference(slow, fast) == "");
    check_gpu_time(slow);
    events += slow.events;
    leapt += fast.leapt_events;
    cases_with_leaps += fast.leaps > 0 ? 1 : 0;
    if (slow.end > free.end) ++slower;
  }
  CHECK(cases_with_leaps * 2 > cases);
  CHECK(leapt * 5 > events);
  CHECK(slower * 20 > cases);  // jobs that share GPUs, and pipelines, do both at once
}

TEST_CASE("leaping is exact where policies move running jobs, on random clusters") {
  std::int64_t preemptions = 0, leaps = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{200}); ++seed) {
    RandomCluster cluster = random_cluster(seed);
    // Longer than any iteration: jobs that lose all iterations in flight again and again would never end.
    cluster.scheduling = {"las", {{"slice_s", 10.0}, {"migrate", true}}};
    if (cluster.placement.name == "random") cluster.placement.name = "first-fit";
    INFO(cluster.describe());
    const RunResult slow = cluster.run(false);
    const RunResult fast = cluster.run(true);
    CHECK(difference(slow, fast) == "");
    check_gpu_time(slow);
    for (const JobResult& job : slow.jobs) preemptions += job.preemptions;
    leaps += fast.leaps > 0 ? 1 : 0;
  }
  MESSAGE(preemptions, " preemptions, ", leaps, " cases with leaps");
  CHECK(preemptions > 0);
  CHECK(leaps > effort(std::int64_t{20}));
}

TEST_CASE("leaping is exact where iterations differ from phase to phase, on random clusters") {
  const std::uint64_t cases = effort(std::uint64_t{300});
  std::uint64_t cases_with_leaps = 0, different = 0, leapt = 0, events = 0;
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomCluster cluster = random_cluster(seed);
    const RunResult plain = cluster.run(true);
    add_phases(cluster);
    INFO(cluster.describe());
    const RunResult slow = cluster.run(false);
    const RunResult fast = cluster.run(true);
    CHECK(difference(slow, fast) == "");
    check_gpu_time(slow);
    events += slow.events;
    leapt += fast.leapt_events;
    cases_with_leaps += fast.leaps > 0 ? 1 : 0;
    if (slow.end != plain.end) ++different;
  }
  MESSAGE(cases, " cases, ", events, " events, ", leapt, " leapt, ", cases_with_leaps, " cases with leaps");
  CHECK(cases_with_leaps * 3 > cases);
  CHECK(leapt * 10 > events);
  CHECK(different * 3 > cases);
}
