// Runs random clusters whose components fail, with leaping and event by event, under every policy. No reported result
// may differ, no policy may stumble over GPUs that are out of service, and all time must be accounted for.

#include "sim/cluster_parts.hpp"
#include "sim/error.hpp"
#include "sim/graph.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/policies/random_cluster.hpp"
#include "tests/sim/same_result.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Gives the cluster failures that strike its jobs a few times. `length` is the length of its run without them.
void add_failures(RandomCluster& cluster, Time length) {
  RandomStream random{cluster.seed, "failures"};
  const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
  const auto part = [&](std::int64_t low, std::int64_t high) {
    return Time::nanoseconds(std::max<std::int64_t>(1, length.ns() * in(low, high) / 1000));
  };
  const int width = cluster.cluster.gpus_per_server;
  FailureSpec& failures = cluster.failures;
  failures.seed = cluster.seed;
  const auto repair = [&] {
    return in(0, 1) == 0 ? DurationLaw::exponential(part(10, 100)) : DurationLaw::lognormal(part(10, 60), 1);
  };
  failures.components.push_back({"server", width, false, DurationLaw::exponential(part(300, 2'000)), repair()});
  if (in(0, 1) == 0)
    failures.components.push_back({"gpu", 1, in(0, 1) == 0, DurationLaw::weibull(part(1'000, 4'000), 0.7), repair()});
  if (in(0, 2) == 0) failures.of_jobs = DurationLaw::exponential(part(200, 2'000));
  if (in(0, 1) == 0) failures.detection = part(1, 30);
  if (in(0, 2) == 0) failures.diagnosis = part(1, 30);
  failures.holds_gpus = in(0, 2) > 0;
  failures.requeues_last = in(0, 2) == 0;
  if (in(0, 1) == 0) failures.retries = static_cast<int>(in(1, 20));
  if (const int of_owner = static_cast<int>(servers_with_spares(cluster.cluster).size()); of_owner > 1 && in(0, 1) == 0)
    failures.spares = static_cast<int>(in(1, of_owner - 1));
  if (in(0, 1) == 0) failures.spare_delay = part(1, 30);
  if (failures.spares > 1 && in(0, 1) == 0) {
    failures.cold_spares = static_cast<int>(in(1, failures.spares));
    failures.spares -= failures.cold_spares;
    if (in(0, 1) == 0) failures.cold_delay = part(1, 30);
  }
  constexpr FoundBy kFoundBy[] = {FoundBy::delay, FoundBy::exit_code, FoundBy::heartbeat, FoundBy::timeout};
  for (ComponentClass& each : failures.components) each.found_by = kFoundBy[in(0, 3)];
  failures.jobs_found_by = kFoundBy[in(0, 3)];
  if (in(0, 1) == 0) failures.hangs = 0.3;
  failures.detectors = {part(0, 5), part(1, 10), static_cast<int>(in(1, 3)), part(1, 50)};
  if (in(0, 1) == 0) failures.detectors.timeout_iterations = 3;
  const Time from = part(0, 900);
  failures.outages.push_back({from, from + part(1, 200), 0, static_cast<std::uint32_t>(width)});
  if (in(0, 1) == 0) failures.outages.back().drain = Time::nanoseconds(from.ns() * in(0, 10) / 10);
  constexpr std::int64_t kPeriods[] = {1, 2, 5, 30, 70, 200, kNoIterationSaved};
  cluster.costs.iterations = kPeriods[in(0, 6)];
  if (in(0, 1) == 0) cluster.costs.restart = part(1, 20);
  if (in(0, 3) == 0) cluster.costs.rescue = part(1, 20);
  if (cluster.costs.iterations > 1 && in(0, 1) == 0) {
    cluster.costs.persist = part(1, 20);
    cluster.costs.checkpoint_interval = cluster.costs.persist;
  }
  // An end: failures may leave a job without room forever, or undo all that it does.
  cluster.until = 4 * length;
  for (JobSpec& job : cluster.jobs) {
    if (in(0, 4) > 0) continue;
    job.duration = part(10, 200);
    job.memory_per_gpu = Bytes{};
  }
}

/// Gives the cluster components that slow down, for a time or for good, several at once.
void add_slowdowns(RandomCluster& cluster, Time length) {
  RandomStream random{cluster.seed, "slowdowns"};
  const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
  const auto part = [&](std::int64_t low, std::int64_t high) {
    return Time::nanoseconds(std::max<std::int64_t>(1, length.ns() * in(low, high) / 1000));
  };
  const auto slowdown = [&] {
    constexpr std::int32_t kFactors[] = {1000, 1100, 1500, 2000, 3333};
    return Slowdown{kFactors[in(0, 4)], kFactors[in(0, 4)]};
  };
  const int width = cluster.cluster.gpus_per_server;
  for (const int gpus : {1, width, 2 * width}) {
    if (in(0, 2) == 0) continue;
    cluster.failures.components.push_back({"slow" + std::to_string(gpus), gpus, false,
                                           DurationLaw::exponential(part(100, 1'000)),
                                           DurationLaw::exponential(part(5, 200)), slowdown()});
    if (in(0, 2) == 0) cluster.failures.components.back().found_by = FoundBy::slowdown;
    cluster.failures.components.back().drains = in(0, 1) == 0;
  }
  cluster.failures.detectors.slow_for = part(0, 50);
  const Time from = part(0, 900);
  cluster.failures.outages.push_back({from, from + part(1, 200), 0, 1, slowdown()});
  if (in(0, 1) == 0) cluster.failures.outages.back().found_by = FoundBy::slowdown;
  for (JobSpec& job : cluster.jobs) job.duration.reset();
}

/// Gives all jobs a redundancy and, if they are to be `timed`, a duration and several GPUs where the cluster has them.
void add_redundancy(RandomCluster& cluster, Time length, bool timed) {
  RandomStream random{cluster.seed, "redundancy"};
  const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
  const auto part = [&](std::int64_t low, std::int64_t high) {
    return Time::nanoseconds(std::max<std::int64_t>(1, length.ns() * in(low, high) / 1000));
  };
  const int gpus = cluster.cluster.servers * cluster.cluster.gpus_per_server;
  RedundancyRule& rule = cluster.failures.redundancy;
  rule.cover = gpus > 1 && in(0, 1) == 0 ? RedundancyRule::Cover::neighbours : RedundancyRule::Cover::replicas;
  rule.stages = gpus > 1 ? 2 : 1;
  rule.spreads_over_job = in(0, 1) == 0;
  if (in(0, 2) == 0) rule.tolerates = 1;
  if (in(0, 2) == 0) rule.step_cost = 1'100;
  if (in(0, 1) == 0) rule.failover = part(1, 20);
  if (in(0, 1) == 0) rule.rejoin = part(1, 20);
  if (!timed) {
    for (JobSpec& job : cluster.jobs) {
      job.duration.reset();
      job.layout.stage = job.gpus % 2 == 0 ? job.gpus / 2 : job.gpus;  // two stages, or one
    }
    return;
  }
  for (JobSpec& job : cluster.jobs) {
    job.gpus = static_cast<int>(in(1, std::max(1, gpus / rule.stages))) * rule.stages;
    job.duration = part(50, 500);
    job.memory_per_gpu = Bytes{};
    job.gpu_share = kWholeGpu;
    job.limit.reset();
  }
}

/// Lets the iterations of jobs leave a third of the ranks of their first role behind, where the graph allows that. True
/// if one does.
bool leave_ranks_behind(RandomCluster& cluster) {
  bool any = false;
  RandomStream random{cluster.seed, "patience"};
  for (std::string& text : cluster.graphs) {
    const IterationGraph graph = graph_from_text(text);
    const Role& role = graph.roles().front();
    if (role.ranks < 2) continue;
    std::string tolerant = fmt::format("{} | late {} {}", text, role.name, std::max(1, role.ranks / 3));
    if (random.uniform_integer(0, 1) == 0) {  // with patience
      const std::int64_t burst = random.uniform_integer(1, 3);
      tolerant +=
          fmt::format(" {} {} {}", random.uniform_integer(0, 1'500), burst, burst + random.uniform_integer(0, 3));
    }
    try {
      static_cast<void>(graph_from_text(tolerant));
    } catch (const InputError&) {
      continue;  // something in it waits for all ranks
    }
    text = tolerant;
    any = true;
  }
  return any;
}

/// Has the jobs stop for their checkpoints, most of which go to a store that they share.
void add_stops(RandomCluster& cluster, Time length) {
  RandomStream random{cluster.seed, "stops"};
  const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
  const bool has_timed = in(0, 1) == 0;
  for (JobSpec& job : cluster.jobs)
    if (!has_timed) job.duration.reset();
  constexpr std::int64_t kPeriods[] = {0, 1, 2, 5, 30, 70, 200};
  cluster.costs.iterations = kPeriods[in(0, 6)];
  cluster.costs.checkpoint_interval = Time::nanoseconds(in(1, 1 + length.ns() / 20));
  cluster.costs.persist = Time{};
  if (in(0, 1) == 0) cluster.costs.checkpoint = Time::nanoseconds(in(1, 1 + length.ns() / 1'000));
  if (in(0, 3) == 0) return;
  cluster.costs.written = Bytes{in(1, 1'000'000)};
  cluster.costs.writes_beside = in(0, 2) == 0;
  const double bytes = cluster.costs.written.to_double();
  const auto takes = [&] { return ByteRate{bytes / static_cast<double>(in(1, 1 + length.ns() / 300)) * 1e9}; };
  cluster.store = StoreRates{takes()};
  if (in(0, 1) == 0) cluster.store->of_job = takes();
}

/// Makes jobs hold their GPUs alone under policies that don't look at what jobs have done, so that groups are closed.
void close_groups(RandomCluster& cluster) {
  RandomStream random{cluster.seed, "closed"};
  constexpr const char* kScheduling[] = {"fifo", "sjf", "edf"};
  constexpr const char* kPlacement[] = {"first-fit", "consolidated",         "spread",         "worst-fit",
                                        "lwf",       "consolidated-or-wait", "list-scheduling"};
  cluster.scheduling = {kScheduling[random.uniform_integer(0, 2)], {}};
  cluster.placement = {kPlacement[random.uniform_integer(0, 6)], {}};
  for (JobSpec& job : cluster.jobs) {
    job.gpu_share = 1000;
    job.iterations *= 20;
  }
}

void check_sums(const RunResult& result) {
  for (const JobResult& job : result.jobs) {
    if (job.state != JobState::finished) continue;
    CHECK(job.finish - job.submit == job.waited + job.held + job.away);
    CHECK(job.useful() >= Time{});
    if (job.lost_to_failures > GpuTime{}) CHECK(job.interruptions + job.covered > 0);
  }
}

/// Gives the cluster one of all scheduling policies, and a placement that draws nothing.
void choose_policy(RandomCluster& cluster, std::uint64_t number) {
  const auto table = scheduling_policies();
  const auto& row = table[number % table.size()];
  if (!row.is_outside) cluster.scheduling = {std::string{row.name}, {}};
  if (cluster.placement.name == "random") cluster.placement.name = "first-fit";
}

}  // namespace

TEST_CASE("leaping is exact where components and jobs fail, under every scheduling policy") {
  std::uint64_t interruptions = 0, leaps = 0, struck = 0;
  const std::uint64_t cases = effort(std::uint64_t{400});
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomCluster cluster = random_cluster(seed);
    cluster.until = Time::never();
    if (seed % 4 == 3) add_lanes(cluster);
    if (seed % 3 == 0) add_flows(cluster);
    add_failures(cluster, cluster.run(true).end);
    if (seed % 2 == 1) {
      choose_policy(cluster, seed / 2);
    }
    INFO(cluster.describe());
    const RunResult slow = cluster.run(false);
    const RunResult fast = cluster.run(true);
    CHECK(difference(slow, fast) == "");
    check_sums(slow);
    leaps += fast.leaps > 0 ? 1 : 0;
    bool is_struck = false;
    for (const JobResult& job : slow.jobs) {
      interruptions += static_cast<std::uint64_t>(job.interruptions);
      is_struck = is_struck || job.interruptions > 0;
    }
    struck += is_struck ? 1 : 0;
  }
  MESSAGE(cases, " cases, ", struck, " with interruptions, ", interruptions, " interruptions, ", leaps, " with leaps");
  CHECK(struck * 2 > cases);
  CHECK(leaps * 4 > cases);
}

TEST_CASE("leaping is exact where jobs stop for checkpoints and share the store that these go to") {
  std::uint64_t stopped = 0, leaps = 0;
  const std::uint64_t cases = effort(std::uint64_t{300});
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomCluster cluster = random_cluster(3'000'000 + seed);
    cluster.until = Time::never();
    if (seed % 4 == 3) add_lanes(cluster);
    if (seed % 5 == 0) add_flows(cluster);
    const Time length = cluster.run(true).end;
    if (seed % 2 == 0) add_failures(cluster, length);
    if (seed % 3 == 0) close_groups(cluster);
    add_stops(cluster, length);
    cluster.until = 6 * length;
    INFO(cluster.describe());
    const RunResult slow = cluster.run(false);
    const RunResult fast = cluster.run(true);
    CHECK(difference(slow, fast) == "");
    check_sums(slow);
    leaps += fast.leaps > 0 ? 1 : 0;
    Time overhead;
    for (const JobResult& job : slow.jobs) overhead += job.overhead - job.restarting;
    if (overhead > Time{}) ++stopped;
  }
  MESSAGE(cases, " cases, ", stopped, " with stops, ", leaps, " with leaps");
  CHECK(stopped * 2 > cases);
  CHECK(leaps * 4 > cases);
}

TEST_CASE("leaping is exact where components slow down as well") {
  std::uint64_t slowed = 0, leaps = 0;
  const std::uint64_t cases = effort(std::uint64_t{300});
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomCluster cluster = random_cluster(1'000'000 + seed);
    cluster.until = Time::never();
    if (seed % 4 == 3) add_lanes(cluster);
    const Time length = cluster.run(true).end;
    if (seed % 2 == 0) add_failures(cluster, length);
    add_slowdowns(cluster, length);
    if (seed % 3 == 0) close_groups(cluster);
    cluster.until = 4 * length;
    INFO(cluster.describe());
    const RunResult slow = cluster.run(false);
    const RunResult fast = cluster.run(true);
    CHECK(difference(slow, fast) == "");
    leaps += fast.leaps > 0 ? 1 : 0;
    GpuTime lost;
    for (const JobResult& job : slow.jobs) lost += job.slowed;
    if (lost > GpuTime{}) ++slowed;
  }
  MESSAGE(cases, " cases, ", slowed, " with slow tasks, ", leaps, " with leaps");
  CHECK(slowed * 2 > cases);
  CHECK(leaps * 5 > cases);
}

TEST_CASE("leaping is exact where jobs do something about slow components") {
  std::uint64_t interrupted = 0, stood = 0, leaps = 0;
  const std::uint64_t cases = effort(std::uint64_t{300});
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomCluster cluster = random_cluster(7'000'000 + seed);
    cluster.until = Time::never();
    if (seed % 4 == 3) add_lanes(cluster);
    const Time length = cluster.run(true).end;
    if (seed % 2 == 0) add_failures(cluster, length);
    add_slowdowns(cluster, length);
    RandomStream random{seed, "mitigation"};
    const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
    const auto part = [&](std::int64_t low, std::int64_t high) {
      return Time::nanoseconds(std::max<std::int64_t>(1, length.ns() * in(low, high) / 10'000));
    };
    Mitigation& steps = cluster.failures.mitigation;
    if (in(0, 2) > 0) steps.microbatches = part(1, 50);
    if (in(0, 2) > 0) steps.topology = part(60, 100) + Time::nanoseconds(1);
    if (in(0, 1) > 0) steps.left = 0.3;
    if (in(0, 2) > 0) steps.restart = part(110, 500) + Time::nanoseconds(2);
    if (seed % 3 == 0) close_groups(cluster);
    cluster.until = 4 * length;
    INFO(cluster.describe());
    const RunResult slow = cluster.run(false);
    const RunResult fast = cluster.run(true);
    CHECK(difference(slow, fast) == "");
    check_sums(slow);
    leaps += fast.leaps > 0 ? 1 : 0;
    for (const JobResult& job : slow.jobs) {
      interrupted += static_cast<std::uint64_t>(job.interruptions);
      if (job.overhead > job.restarting) ++stood;
    }
  }
  MESSAGE(cases, " cases, ", stood, " jobs that stood for a step, ", interrupted, " interruptions, ", leaps,
          " with leaps");
  CHECK(stood > cases);
  CHECK(interrupted > cases);
  CHECK(leaps * 5 > cases);
}

TEST_CASE("leaping is exact where iterations leave late ranks behind") {
  std::uint64_t late = 0, leaps = 0, allowed = 0;
  const std::uint64_t cases = effort(std::uint64_t{400});
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomCluster cluster = random_cluster(4'000'000 + seed);
    cluster.until = Time::never();
    const Time length = cluster.run(true).end;
    if (seed % 3 == 0) add_failures(cluster, length);
    add_slowdowns(cluster, length);
    if (seed % 4 == 0) close_groups(cluster);
    if (leave_ranks_behind(cluster)) ++allowed;
    cluster.until = 4 * length;
    INFO(cluster.describe());
    const RunResult slow = cluster.run(false);
    const RunResult fast = cluster.run(true);
    CHECK(difference(slow, fast) == "");
    leaps += fast.leaps > 0 ? 1 : 0;
    std::int64_t behind = 0;
    for (const JobResult& job : slow.jobs) behind += job.left_behind;
    if (behind > 0) ++late;
  }
  MESSAGE(cases, " cases, ", allowed, " with jobs that may, ", late, " with late ranks, ", leaps, " with leaps");
  CHECK(late * 4 > cases);
  CHECK(leaps * 5 > cases);
}

TEST_CASE("jobs go on without GPUs under every scheduling policy, and all time and all GPUs are accounted for") {
  std::uint64_t covered = 0, interrupted = 0;
  const std::uint64_t cases = effort(std::uint64_t{300});
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomCluster cluster = random_cluster(5'000'000 + seed);
    cluster.until = Time::never();
    const Time length = cluster.run(true).end;
    add_failures(cluster, length);
    add_redundancy(cluster, length, true);
    if (seed % 2 == 1) {
      choose_policy(cluster, seed / 2);
    }
    INFO(cluster.describe());
    const RunResult slow = cluster.run(false);
    CHECK(difference(slow, cluster.run(true)) == "");
    check_sums(slow);
    for (const JobResult& job : slow.jobs) {
      covered += static_cast<std::uint64_t>(job.covered);
      interrupted += static_cast<std::uint64_t>(job.interruptions);
    }
  }
  MESSAGE(cases, " cases, ", covered, " covered failures, ", interrupted, " interruptions");
  CHECK(covered > cases);
  CHECK(interrupted > cases / 2);
}

TEST_CASE("leaping is exact where jobs of iterations go on without GPUs, under every scheduling policy") {
  std::uint64_t covered = 0, interrupted = 0, leaps = 0;
  const std::uint64_t cases = effort(std::uint64_t{300});
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomCluster cluster = random_cluster(6'000'000 + seed);
    cluster.until = Time::never();
    if (seed % 4 == 0) add_flows(cluster);
    const Time length = cluster.run(true).end;
    add_failures(cluster, length);
    if (seed % 4 == 1) add_slowdowns(cluster, length);
    add_redundancy(cluster, length, false);
    if (seed % 3 == 0) {
      close_groups(cluster);
    } else if (seed % 2 == 1) {
      choose_policy(cluster, seed / 2);
    }
    INFO(cluster.describe());
    const RunResult slow = cluster.run(false);
    const RunResult fast = cluster.run(true);
    CHECK(difference(slow, fast) == "");
    check_sums(slow);
    leaps += fast.leaps > 0 ? 1 : 0;
    for (const JobResult& job : slow.jobs) {
      covered += static_cast<std::uint64_t>(job.covered);
      interrupted += static_cast<std::uint64_t>(job.interruptions);
      CHECK(job.redone >= Time{});
      CHECK(job.redone + job.overhead <= job.held);
    }
    for (const GpuResult& gpu : slow.gpus) CHECK(gpu.busy + gpu.down <= slow.end);
  }
  MESSAGE(cases, " cases, ", covered, " covered failures, ", interrupted, " interruptions, ", leaps, " with leaps");
  CHECK(covered > cases / 2);
  CHECK(interrupted > cases / 2);
  CHECK(leaps * 5 > cases);
}

TEST_CASE("leaping is exact for jobs that nothing beside them concerns, beyond failures elsewhere") {
  std::uint64_t events = 0, leapt = 0, interruptions = 0;
  const std::uint64_t cases = effort(std::uint64_t{300});
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomCluster cluster = random_cluster(2'000'000 + seed);
    close_groups(cluster);
    cluster.until = Time::never();
    add_failures(cluster, cluster.run(true).end);
    for (JobSpec& job : cluster.jobs)
      if (!job.duration) job.gpu_share = 1000;
    INFO(cluster.describe());
    const RunResult slow = cluster.run(false);
    const RunResult fast = cluster.run(true);
    CHECK(difference(slow, fast) == "");
    check_sums(slow);
    events += fast.events;
    leapt += fast.leapt_events;
    for (const JobResult& job : slow.jobs) interruptions += static_cast<std::uint64_t>(job.interruptions);
  }
  MESSAGE(cases, " cases, ", interruptions, " interruptions, ", events, " events executed, ", leapt, " leapt over");
  CHECK(interruptions > cases);
  CHECK(leapt > events);
}
