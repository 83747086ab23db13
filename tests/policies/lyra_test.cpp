// Lyra: its two phases, its knapsack, and how its jobs use servers that are lent, on cases that a reader can work out
// by hand; and what must hold on random clusters whose servers are lent, under every scheduling policy.

#include "policies/scheduling/knapsack.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/policies/policy_kit.hpp"
#include "tests/policies/random_cluster.hpp"
#include "tests/policies/scheduling_kit.hpp"
#include "tests/sim/same_result.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;
using namespace contend::test;

namespace {

const Choice kLyra{"lyra", {}};

/// Jobs of 1 GPU at least, twice as fast on 2, and so on up to `most`; `duration` is that on one GPU.
struct Jobs {
  std::vector<JobSpec> jobs;
  std::vector<std::vector<JobSize>> sizes;

  void add(std::int64_t submit, std::int64_t duration, int least, int most) {
    JobSpec job = timed_job(submit, least, duration);
    if (most > least) {
      job.sizes = static_cast<std::int32_t>(sizes.size());
      std::vector<JobSize> own;
      for (int gpus = least; gpus <= most; ++gpus)
        own.push_back(
            {.gpus = gpus, .paces = {{.together = std::llround(static_cast<double>(kNominalPace) * least / gpus)}}});
      sizes.push_back(std::move(own));
    }
    jobs.push_back(job);
  }

  [[nodiscard]] Played play_on(int servers, int gpus_per_server, const FailureSpec& failures = {}) const {
    ClusterSpec cluster;
    cluster.servers = servers;
    cluster.gpus_per_server = gpus_per_server;
    cluster.gpu_memory = Bytes{1};
    Played played = play(kLyra, cluster, jobs, placement({"own-first", {}}, 1), {}, sizes, {}, failures);
    CHECK(played.faults.empty());
    return played;
  }
};

FailureSpec lent(int servers, const std::vector<std::pair<std::int64_t, int>>& changes) {
  FailureSpec failures;
  failures.loans.servers = servers;
  for (const auto& [second, count] : changes) failures.loans.changes.push_back({Time::seconds(second), count});
  return failures;
}

}  // namespace

TEST_CASE("lyra: base demands go first, the shortest job first, and nothing that runs gives way") {
  Jobs three;
  three.add(0, 100, 2, 2);
  three.add(0, 50, 2, 2);
  three.add(10, 20, 2, 2);
  CHECK(holds(three.play_on(1, 2)) == "B2 0-50, C2 50-70, A2 70-170");
}

TEST_CASE("lyra: a job that does not fit is passed over") {
  Jobs three;
  three.add(0, 100, 1, 1);
  three.add(0, 10, 4, 4);
  three.add(0, 200, 3, 3);
  CHECK(holds(three.play_on(1, 4)) == "B4 0-10, C3 10-210, A1 10-110");
  three.jobs[1].submit = Time::seconds(1);
  CHECK(holds(three.play_on(1, 4)) == "C3 0-200, A1 0-100, B4 200-210");
}

TEST_CASE("lyra: what is left goes where it saves most running time, and goes on when a job ends") {
  // Of 4 GPUs 2 are the base demands. A second GPU saves A 50 s and B 30; a third one A 16.7 more, so each gets one.
  Jobs two;
  two.add(0, 100, 1, 4);
  two.add(0, 60, 1, 4);
  CHECK(holds(two.play_on(1, 4)) == "A2 0-30, B2 0-30, A4 30-40");
  // Of 3 GPUs one is left, and A has it.
  CHECK(holds(two.play_on(1, 3)) == "A2 0-50, B1 0-50, B3 50-53.33");
}

TEST_CASE("lyra: a newcomer takes what others have beyond their base demands") {
  Jobs two;
  two.add(0, 100, 1, 4);
  two.add(10, 30, 2, 2);
  CHECK(holds(two.play_on(1, 4)) == "A4 0-10, A2 10-40, B2 10-40");
}

TEST_CASE("lyra: an elastic job has its base demand on own servers, and shrinks to it when lent ones go back") {
  // Server 1 is lent until 20 s: 4 GPUs for 20 s are 80 s of 200, 2 GPUs do the rest in 60.
  Jobs one;
  one.add(0, 100, 2, 4);
  const Played played = one.play_on(2, 2, lent(1, {{0, 1}, {20, 0}}));
  CHECK(holds(played) == "A4 0-20, A2 20-80");
  CHECK(played.runs[0].gpus == std::vector<GpuId>{GpuId{0U}, GpuId{1U}, GpuId{2U}, GpuId{3U}});
  CHECK(played.runs[1].gpus == std::vector<GpuId>{GpuId{0U}, GpuId{1U}});
  CHECK(played.result.jobs[0].interruptions == 0);
  CHECK(played.result.jobs[0].resizes == 1);
}

TEST_CASE("lyra: a job that can't shrink goes to what is left, and elastic ones make room for it") {
  // A has its one GPU on the own server and, after B has taken the other one there, nothing. C runs on the lent server.
  Jobs three;
  three.add(0, 100, 1, 4);
  three.add(0, 100, 1, 1);
  three.add(5, 40, 2, 2);
  const Played played = three.play_on(2, 2, lent(1, {{0, 1}, {20, 0}, {50, 1}}));
  // A: 3 GPUs for 5 s, then one. C has done 15 of 40 s when it is preempted, and A and B need the GPUs of the own
  // server. C comes back with the lent server at 50 s, and A grows at 75, when C ends, with 30 s of 100 left.
  CHECK(holds(played) == "A3 0-5, B1 0-100, A1 5-75, C2 5-20, C2 50-75, A3 75-80");
  CHECK(played.result.jobs[2].interruptions == 1);
}

TEST_CASE("knapsack: the best of all choices, on random groups") {
  const std::uint64_t rounds = effort<std::uint64_t>(400);
  for (std::uint64_t seed = 0; seed < rounds; ++seed) {
    CAPTURE(seed);
    RandomStream random{seed, "knapsack"};
    const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
    const int unit = static_cast<int>(in(1, 3));
    std::vector<std::vector<KnapsackItem>> groups(static_cast<std::size_t>(in(1, 6)));
    for (auto& group : groups) {
      group.push_back({0, 0});
      for (std::int64_t i = in(0, 4); i > 0; --i)
        group.push_back({static_cast<int>(in(0, 8)) * unit, static_cast<double>(in(-2, 20)) / 3});
    }
    const int room = static_cast<int>(in(0, 30));
    double best = -std::numeric_limits<double>::infinity();
    std::vector<std::size_t> at(groups.size());
    const auto weigh = [&](const std::vector<std::size_t>& taken, double& value) {
      int weight = 0;
      value = 0;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        weight += groups[g][taken[g]].weight;
        value += groups[g][taken[g]].value;
      }
      return weight;
    };
    for (bool is_done = false; !is_done;) {
      double value = 0;
      if (weigh(at, value) <= room) best = std::max(best, value);
      std::size_t g = 0;
      while (g < at.size() && ++at[g] == groups[g].size()) at[g++] = 0;
      is_done = g == at.size();
    }
    double value = 0;
    CHECK(weigh(best_knapsack(groups, room), value) <= room);
    CHECK(value == near_absolute(best, 1e-9));
  }
  CHECK(best_knapsack({}, 5).empty());
}

namespace {

/// Lends some of the servers, all of which have jobs of durations and of iterations, by a schedule of its own.
void add_loans(RandomCluster& cluster, Time length) {
  RandomStream random{cluster.seed, "loans"};
  const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
  const int servers = cluster.cluster.servers = std::max(2, cluster.cluster.servers);
  LoanSpec& loans = cluster.failures.loans;
  loans.servers = static_cast<int>(in(1, servers - 1));
  loans.changes = {{Time{}, loans.servers}};  // so that every job has room at some time
  Time at;
  for (std::int64_t i = in(1, 8); i > 0; --i) {
    at += Time::nanoseconds(1 + length.ns() * in(1, 100) / 500);
    loans.changes.push_back({at, static_cast<int>(in(0, loans.servers))});
  }
  if (in(0, 1) == 0) loans.period = at + Time::nanoseconds(1 + length.ns() / 20);
  loans.reclaim = static_cast<ReclaimRule>(in(0, 3));
  if (in(0, 1) == 0) cluster.costs.restart = Time::nanoseconds(1 + length.ns() / 100);
  for (JobSpec& job : cluster.jobs) {
    if (in(0, 2) > 0) continue;
    job.duration = Time::nanoseconds(1 + length.ns() * in(1, 20) / 100);
    job.memory_per_gpu = Bytes{};
  }
  cluster.until = 4 * length;
}

/// Time until `end` for which fewer servers were lent than would have to be for the GPU: of all lent servers together.
GpuTime not_lent(const LoanSpec& loans, Time end, int gpus_per_server) {
  GpuTime sum;
  for (Time begin; begin < end; begin += loans.period) {
    for (std::size_t i = 0; i < loans.changes.size(); ++i) {
      const Time from = begin + loans.changes[i].at;
      const bool is_last = i + 1 == loans.changes.size();
      Time until =
          is_last ? (loans.period == Time::never() ? end : begin + loans.period) : begin + loans.changes[i + 1].at;
      until = std::min(until, end);
      if (from < until) sum += GpuTime{until - from, (loans.servers - loans.changes[i].lent) * gpus_per_server};
    }
    if (loans.period == Time::never()) break;
  }
  return sum;
}

}  // namespace

TEST_CASE("loans: under every scheduling policy leaping is exact, and no GPU works while it is not lent") {
  std::uint64_t reclaimed = 0, leaps = 0;
  const std::uint64_t cases = effort(std::uint64_t{300});
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomCluster cluster = random_cluster(6'000'000 + seed);
    cluster.until = Time::never();
    add_loans(cluster, cluster.run(true).end);
    const auto table = scheduling_policies();
    const auto& row = table[seed % table.size()];
    if (!row.is_outside) cluster.scheduling = {std::string{row.name}, {}};
    if (cluster.placement.name == "random" || seed % 3 == 0) cluster.placement = {"own-first", {}};
    INFO(cluster.describe());
    const RunResult slow = cluster.run(false), fast = cluster.run(true);
    CHECK(difference(slow, fast) == "");
    GpuTime down;
    for (const GpuResult& gpu : slow.gpus) {
      CHECK(gpu.busy + gpu.down <= slow.end);
      down += GpuTime{gpu.down, 1};
    }
    CHECK(down == not_lent(cluster.failures.loans, slow.end, cluster.cluster.gpus_per_server));
    for (const JobResult& job : slow.jobs) {
      if (job.state == JobState::finished) CHECK(job.finish - job.submit == job.waited + job.held + job.away);
      reclaimed += static_cast<std::uint64_t>(job.interruptions);
    }
    leaps += fast.leaps > 0 ? 1 : 0;
  }
  MESSAGE(cases, " cases, ", reclaimed, " jobs preempted by reclaiming, ", leaps, " with leaps");
  CHECK(reclaimed > cases / 2);
  CHECK(leaps * 5 > cases);
}

TEST_CASE("lyra: no job waits whose base demand is free, and elastic jobs keep their work when they shrink") {
  std::int64_t resizes = 0, interruptions = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{200}); ++seed) {
    CAPTURE(seed);
    RandomStream random{seed, "lyra"};
    const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
    Jobs made;
    for (int j = 0; j < 12; ++j) {
      const int least = static_cast<int>(in(1, 3));
      made.add(in(0, 60), in(5, 80), least, least + static_cast<int>(in(0, 1) * in(1, 4)));
    }
    FailureSpec failures = lent(2, {{0, 2}});
    LoanSpec& loans = failures.loans;
    for (std::int64_t at = in(1, 20); at < 100; at += in(1, 20))
      loans.changes.push_back({Time::seconds(at), static_cast<int>(in(0, 2))});
    loans.period = Time::seconds(120);
    const Played played = made.play_on(4, 4, failures);
    CHECK(played.passes_with_idle_room == 0);
    GpuTime held, busy;
    for (const GpuResult& gpu : played.result.gpus) {
      CHECK(gpu.busy + gpu.down <= played.result.end);
      busy += GpuTime{gpu.busy, 1};
    }
    for (std::size_t j = 0; j < made.jobs.size(); ++j) {
      const JobResult& job = played.result.jobs[j];
      REQUIRE(job.state == JobState::finished);
      CHECK(job.compute == GpuTime{*made.jobs[j].duration, job.gpus});
      CHECK(job.lost == GpuTime{});
      held += job.gpu_time;
      resizes += job.resizes;
      interruptions += job.interruptions;
    }
    CHECK(held == busy);
  }
  MESSAGE(resizes, " resizes, ", interruptions, " interruptions");
  CHECK(resizes > 200);
  CHECK(interruptions > 20);
}
