// These tests run random clusters with leaping and event by event. No reported result may differ.
//   CONTEND_EFFORT=20 test_policies -tc='leaping lands*'      20 times as many cases
//   CONTEND_LEAP_SEED=4711 test_policies -tc='leaping lands*'     this case only

#include "sim/graph.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/policies/random_cluster.hpp"
#include "tests/sim/same_result.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

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
      if (graph.ops()[i].kind == OpKind::post) continue;  // every iteration has to post
      if (in(0, 2) == 0) text += fmt::format(" | phase {} {}", in(0, 1), graph.ops()[i].name);
    }
  }
}

/// Gives each graph a timer beside its operations, and has one of these and the next iteration wait for it.
void add_timers(RandomCluster& cluster) {
  RandomStream random{cluster.seed, "timers"};
  for (std::string& text : cluster.graphs) {
    const IterationGraph graph = graph_from_text(text);
    const std::string& first = graph.ops().front().name;
    const std::string& role = graph.roles().front().name;
    const Time usual = std::max(graph.ops().front().duration, Time::nanoseconds(1));
    text += fmt::format(" | timer t {0} {1} | timer u {0} {2} | {3} -> t | t -> u | t => {3} | u => t", role,
                        usual.ns() * random.uniform_integer(0, 3), random.uniform_integer(0, 7), first);
  }
}

/// Runs clusters both ways and counts what was seen.
struct BothWays {
  std::uint64_t cases = 0, cases_with_leaps = 0, events = 0, leapt = 0;

  /// Returns the result, which is the result of executing every event.
  RunResult run(const RandomCluster& cluster) {
    INFO(cluster.describe());
    RunResult slow = cluster.run(false);
    const RunResult fast = cluster.run(true);
    CHECK(difference(slow, fast) == "");
    CHECK(slow.leaps == 0);
    check_gpu_time(slow);
    ++cases;
    events += slow.events;
    leapt += fast.leapt_events;
    cases_with_leaps += fast.leaps > 0 ? 1 : 0;
    return slow;
  }
  void tell() const {
    MESSAGE(cases, " cases, ", events, " events, ", leapt, " leapt, ", cases_with_leaps, " cases with leaps");
  }
};

}  // namespace

TEST_CASE("leaping lands on the same nanosecond as event by event, on random clusters") {
  constexpr std::uint64_t kNoSeed = UINT64_MAX;
  const std::uint64_t only = number_from_environment("CONTEND_LEAP_SEED", kNoSeed);
  const std::uint64_t first = only == kNoSeed ? 0 : only;
  const std::uint64_t cases = only == kNoSeed ? effort(std::uint64_t{600}) : 1;
  BothWays seen;
  std::uint64_t finished = 0, jobs = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const RunResult result = seen.run(random_cluster(seed));
    jobs += result.jobs.size();
    for (const JobResult& job : result.jobs) finished += job.state == JobState::finished ? 1 : 0;
  }
  seen.tell();
  if (only != kNoSeed) return;
  // The generator has to keep its coverage: most jobs run, and nearly every run leaps.
  CHECK(finished * 3 > jobs * 2);
  CHECK(seen.cases_with_leaps * 2 > cases);
  CHECK(seen.leapt * 5 > seen.events);
}

TEST_CASE("leaping lands on the same nanosecond if computing and communicating slow each other") {
  BothWays seen;
  std::uint64_t slower = 0;
  std::vector<std::uint64_t> seeds{4153, 4859};  // tasks are equally far, but were slowed for different times before
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{300}); ++seed) seeds.push_back(seed);
  for (const std::uint64_t seed : seeds) {
    RandomCluster cluster = random_cluster(seed);
    const RunResult free = cluster.run(true);
    cluster.interference = {seed % 4 == 0 ? 0 : 250'000, seed % 3 == 0 ? 0 : 100'000 + static_cast<int>(seed % 5)};
    if (seen.run(cluster).end > free.end) ++slower;
  }
  CHECK(seen.cases_with_leaps * 2 > seen.cases);
  CHECK(seen.leapt * 5 > seen.events);
  CHECK(slower * 20 > seen.cases);  // jobs that share GPUs, and pipelines, do both at once
}

TEST_CASE("leaping lands on the same nanosecond, byte and sample where jobs send flows over a fabric") {
  BothWays seen;
  std::uint64_t slowed = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{400}); ++seed) {
    RandomCluster cluster = random_cluster(seed);
    add_flows(cluster);
    const RunResult result = seen.run(cluster);
    if (std::ranges::any_of(result.jobs, [](const JobResult& job) { return job.contended > Time{}; })) ++slowed;
  }
  seen.tell();
  CHECK(seen.cases_with_leaps * 3 > seen.cases);
  CHECK(seen.leapt * 5 > seen.events);
  CHECK(slowed * 4 > seen.cases);  // jobs that meet on links
}

TEST_CASE("leaping lands on the same nanosecond where jobs share what servers have besides interfaces") {
  BothWays seen;
  std::uint64_t slower = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{400}); ++seed) {
    RandomCluster cluster = random_cluster(seed);
    if (seed % 4 == 3) add_flows(cluster);
    add_timers(cluster);
    RandomStream random{seed, "hosts"};
    for (std::string& text : cluster.graphs) {
      const IterationGraph graph = graph_from_text(text);
      for (const Op& op : graph.ops()) {
        if (op.kind != OpKind::timer) continue;
        const auto bytes = [&] { return op.duration.ns() * random.uniform_integer(0, 2); };
        text += fmt::format(" | host {} {} {} {} {}", op.name, bytes(), bytes(), bytes(), bytes());
      }
    }
    const RunResult free = cluster.run(true);
    const ByteRate link{static_cast<double>(1 + seed % 3) * 1e9}, nvme{3e9};  // one to three bytes in a nanosecond
    cluster.hosts = {link, seed % 2 == 0 ? std::optional{link} : std::nullopt, nvme};
    if (seen.run(cluster).end > free.end) ++slower;
  }
  seen.tell();
  CHECK(seen.cases_with_leaps * 3 > seen.cases);
  CHECK(seen.leapt * 8 > seen.events);
  CHECK(slower * 4 > seen.cases);
}

TEST_CASE("leaping lands on the same nanosecond with timers, and where policies decide for an iteration") {
  BothWays seen;
  std::uint64_t moved = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{300}); ++seed) {
    RandomCluster cluster = random_cluster(seed);
    const Time without = cluster.run(true).end;
    if (seed % 3 != 0) add_timers(cluster);
    if (seed % 3 != 1) cluster.communication.parameters.emplace_back("per_iteration", true);
    if (seen.run(cluster).end != without) ++moved;
  }
  seen.tell();
  CHECK(seen.cases_with_leaps * 2 > seen.cases);
  CHECK(seen.leapt * 5 > seen.events);
  CHECK(moved * (kSanitized ? 5U : 4U) > seen.cases);  // a tenth of the rounds has fewer
}

TEST_CASE("leaping lands on the same nanosecond where hosts launch, and ranks have further lanes") {
  BothWays seen;
  std::uint64_t hosts = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{400}); ++seed) {
    RandomCluster cluster = random_cluster(seed);
    if (seed % 5 == 4) add_flows(cluster);
    if (seed % 7 == 6) add_timers(cluster);
    add_lanes(cluster);
    if (seed % 6 == 5 && !cluster.network) cluster.interference = {250'000, 100'000};
    if (seed % 11 == 3) add_phases(cluster);
    if (seed % 3 == 2) {
      cluster.scheduling = {"las", {{"slice_s", 10.0}, {"migrate", true}}};
      if (cluster.placement.name == "random") cluster.placement.name = "first-fit";
    }
    const RunResult result = seen.run(cluster);
    if (std::ranges::any_of(result.jobs, [](const JobResult& job) { return job.host > GpuTime{}; })) ++hosts;
  }
  seen.tell();
  CHECK(hosts * 10 > seen.cases * (kSanitized ? 8U : 9U));  // a tenth of the rounds has fewer
  CHECK(seen.cases_with_leaps * 2 > seen.cases);
  CHECK(seen.leapt * 5 > seen.events);
}

TEST_CASE("leaping lands on the same nanosecond where collectives run in listed groups") {
  BothWays seen;
  std::uint64_t different = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{300}); ++seed) {
    RandomCluster cluster = random_cluster(seed);
    if (seed % 3 == 2) add_flows(cluster);
    if (seed % 5 == 4) add_lanes(cluster);
    const RunResult plain = cluster.run(true);
    add_lists(cluster);
    if (seen.run(cluster).digest != plain.digest) ++different;
  }
  seen.tell();
  CHECK(different * 4 > seen.cases);
  CHECK(seen.cases_with_leaps * 3 > seen.cases);
  CHECK(seen.leapt * 5 > seen.events);
}

TEST_CASE("leaping is exact where jobs come after the end of others, on random clusters") {
  BothWays seen;
  std::uint64_t followed = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{400}); ++seed) {
    RandomCluster cluster = random_cluster(seed);
    RandomStream random{seed, "order"};
    const std::int64_t usual = std::max<std::int64_t>(1, cluster.jobs.back().submit.ns() / 4);
    for (std::size_t j = 1; j < cluster.jobs.size(); ++j) {
      JobSpec& job = cluster.jobs[j];
      for (std::int64_t others = random.uniform_integer(0, 2); others > 0; --others) {
        const JobId before{static_cast<std::size_t>(random.uniform_integer(0, static_cast<std::int64_t>(j) - 1))};
        if (std::ranges::find(job.after, before) == job.after.end()) job.after.push_back(before);
      }
      job.think = Time::nanoseconds(random.uniform_integer(0, 2) * usual);
    }
    if (seed % 4 == 0) cluster.window = {Time::nanoseconds(usual), Time::nanoseconds(8 * usual)};
    const RunResult result = seen.run(cluster);
    for (std::size_t j = 0; j < result.jobs.size(); ++j) {
      const JobResult& job = result.jobs[j];
      if (!job.follows || job.submit == Time::never()) continue;
      Time last;
      bool all_finished = true;
      for (const JobId before : cluster.jobs[j].after) {
        all_finished = all_finished && result.jobs[before.index()].state == JobState::finished;
        last = std::max(last, result.jobs[before.index()].finish);
      }
      if (!all_finished) continue;  // a job that can't run has ended, too
      CHECK(job.submit == last + cluster.jobs[j].think);
      ++followed;
    }
  }
  seen.tell();
  CHECK(seen.cases_with_leaps * 3 > seen.cases);
  CHECK(seen.leapt * 5 > seen.events);
  CHECK(followed > seen.cases);
}

TEST_CASE("leaping is exact where a measured window ends the run, on random clusters") {
  BothWays seen;
  std::uint64_t shorter = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{300}); ++seed) {
    RandomCluster cluster = random_cluster(seed);
    cluster.until = Time::never();
    const RunResult whole = cluster.run(true);
    std::vector<Time> submissions;
    for (const JobSpec& job : cluster.jobs) submissions.push_back(job.submit);
    std::sort(submissions.begin(), submissions.end());
    cluster.window.from = submissions[submissions.size() / 4];
    cluster.window.until = submissions[submissions.size() * 3 / 4] + Time::nanoseconds(1);
    const RunResult result = seen.run(cluster);
    if (result.end < whole.end) ++shorter;
    REQUIRE(result.window);
    // Until the run ends, nothing is different: jobs that have ended did so as in the whole run.
    for (std::size_t j = 0; j < result.jobs.size(); ++j) {
      const JobResult &job = result.jobs[j], &of_whole = whole.jobs[j];
      CHECK(job.measured == cluster.window.holds(job.submit));
      if (job.measured) CHECK(job.state == of_whole.state);
      if (job.state == JobState::finished) CHECK(job.finish == of_whole.finish);
      if (job.measured && job.state == JobState::finished) CHECK(job.finish <= result.end);
    }
    CHECK(result.window->gpu_s <= result.window->length_s * static_cast<double>(result.gpus.size()) * (1 + 1e-9));
  }
  seen.tell();
  CHECK(shorter * 8 > seen.cases);
  CHECK(seen.cases_with_leaps * 3 > seen.cases);
}

TEST_CASE("leaping is exact where policies move running jobs, on random clusters") {
  BothWays seen;
  std::int64_t preemptions = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{200}); ++seed) {
    RandomCluster cluster = random_cluster(seed);
    // Longer than any iteration: jobs that lose all iterations in flight again and again would never end.
    cluster.scheduling = {"las", {{"slice_s", 10.0}, {"migrate", true}}};
    if (cluster.placement.name == "random") cluster.placement.name = "first-fit";
    // It looks for the least load, which falls where jobs are to be placed again.
    if (seed % 2 == 1) cluster.placement = {"lwf", {}};
    // Some go back to a checkpoint, and restart.
    if (seed % 3 == 1) cluster.costs.iterations = 2;
    if (seed % 3 != 0) cluster.costs.restart = Time::nanoseconds(static_cast<std::int64_t>(seed % 7) * 100);
    for (const JobResult& job : seen.run(cluster).jobs) preemptions += job.preemptions;
  }
  seen.tell();
  CHECK(preemptions > 0);
  CHECK(seen.cases_with_leaps > effort(std::uint64_t{20}));
}

TEST_CASE("leaping is exact where iterations differ from phase to phase, on random clusters") {
  BothWays seen;
  std::uint64_t different = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{300}); ++seed) {
    RandomCluster cluster = random_cluster(seed);
    const RunResult plain = cluster.run(true);
    add_phases(cluster);
    if (seen.run(cluster).digest != plain.digest) ++different;
  }
  seen.tell();
  CHECK(seen.cases_with_leaps * 3 > seen.cases);
  CHECK(seen.leapt * 10 > seen.events);
  CHECK(different * 2 > seen.cases);
}
