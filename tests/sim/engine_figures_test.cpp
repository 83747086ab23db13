// What the engine makes of jobs of every kind under every rule that it knows outside of the policies: retries, limits,
// checkpoints, failures, spares, slowness, types of servers. The tests beside this one say what is right; these figures
// move with any limit, tie or sum of the engine, and whoever changes one on purpose changes its line.

#include "sim/random_stream.hpp"
#include "tests/sim/struck_cluster.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

/// A cluster of four servers of four GPUs, and what is to be run on it.
struct Trial {
  ClusterSpec cluster;
  Workload workload;
  Setup setup;
  SimulationOptions options;
};

/// Forty jobs, of which some train by a graph, alone or on several GPUs, and the others have durations.
Trial trial_of(bool with_iterations = true) {
  Trial trial;
  trial.cluster.servers = trial.cluster.gpus_per_server = 4;
  trial.cluster.gpu_memory = Bytes{100};
  trial.setup.key = by_remaining_service;
  trial.setup.preemptive = true;
  for (const int ranks : {1, 2, 4, 6}) {
    trial.workload.graphs.push_back(
        graph_from_text(ranks == 1 ? "role w 1 | compute f w 9 | compute b w 17 | f -> b | b => f"
                                   : fmt::format("role w {} | compute f w 9 | compute b w 17 | all-reduce g w 11 | "
                                                 "f -> b | b -> g | g => f",
                                                 ranks)));
  }
  RandomStream stream{11, "engine figures"};
  std::int64_t submit = 0;
  for (int j = 0; j < 40; ++j) {
    submit += stream.uniform() < 0.3 ? 0 : stream.uniform_integer(1, 60);
    const auto graph = static_cast<std::size_t>(stream.uniform_integer(0, 3));
    JobSpec job = timed_ns(submit, stream.uniform_integer(20, 900), trial.workload.graphs[graph].ranks());
    job.name = fmt::format("{}", j);
    job.memory_per_gpu = Bytes{stream.uniform() < 0.5 ? 60 : 45};
    job.graph = graph;
    job.iterations = stream.uniform_integer(2, 30);
    const bool iterates = stream.uniform() < 0.4, has_limit = stream.uniform() < 0.3;
    const std::int64_t limit = stream.uniform_integer(100, 600), first = stream.uniform_integer(5, 90);
    if (iterates && with_iterations) {
      job.duration.reset();
    } else if (has_limit) {
      job.limit = Time::nanoseconds(limit);
    } else if (j % 5 == 0) {
      job.attempts = {Time::nanoseconds(first), Time::nanoseconds(first / 2)};
    } else if (j % 7 == 0) {
      job.outcome = JobOutcome::failed;
    }
    trial.workload.jobs.push_back(std::move(job));
  }
  return trial;
}

std::string figures_of(Trial trial) {
  PolicySet policies = policies_of(trial.setup, {});
  policies.placement = std::make_unique<AnyGpus>();
  const auto servers = static_cast<std::size_t>(trial.cluster.servers);
  const std::size_t jobs = trial.workload.jobs.size();
  Simulation simulation{trial.cluster, std::move(trial.workload), std::move(policies),
                        std::make_unique<FixedNetwork>(1, servers, jobs), std::move(trial.options)};
  const RunResult result = simulation.run();
  Time jct, held, waited, overhead, restarting, redone, away, undetected, down;
  GpuTime compute, lost, slowed, busy;
  std::int64_t preemptions = 0, interruptions = 0, covered = 0, attempts = 0, done = 0;
  for (const JobResult& job : result.jobs) {
    if (job.state == JobState::finished) jct += job.jct();
    held += job.held, waited += job.waited, overhead += job.overhead, restarting += job.restarting;
    redone += job.redone, away += job.away, undetected += job.undetected;
    compute += job.compute, lost += job.lost, slowed += job.slowed;
    preemptions += job.preemptions, interruptions += job.interruptions, covered += job.covered;
    attempts += job.attempts, done += job.iterations_done;
  }
  for (const GpuResult& gpu : result.gpus) {
    busy += GpuTime{gpu.busy, 1};
    down += gpu.down;
  }
  const auto ns = [](GpuTime time) { return static_cast<std::int64_t>(time.ns()); };
  return fmt::format(
      "jct {} held {} waited {} overhead {} restarting {} redone {} away {} undetected {} | compute {} "
      "lost {} slowed {} busy {} down {} | {} preempted {} struck {} covered {} failures {} attempts {} "
      "iterations, digest {:x}",
      jct.ns(), held.ns(), waited.ns(), overhead.ns(), restarting.ns(), redone.ns(), away.ns(), undetected.ns(),
      ns(compute), ns(lost), ns(slowed), ns(busy), down.ns(), preemptions, interruptions, covered, result.failures,
      attempts, done, result.digest);
}

Time in_ns(std::int64_t ns) {
  return Time::nanoseconds(ns);
}

FailureSpec failing() {
  FailureSpec failures;
  failures.components = {
      {"gpu", 1, false, DurationLaw::weibull(in_ns(2'500), 0.8), DurationLaw::lognormal(in_ns(60), 1)},
      {"server", 4, false, DurationLaw::exponential(in_ns(3'000)), DurationLaw::constant(in_ns(90))}};
  failures.detection = in_ns(7);
  failures.diagnosis = in_ns(5);
  return failures;
}

}  // namespace

TEST_CASE("the figures of the engine: what jobs get, wait and lose under its rules") {
  struct Line {
    const char* name;
    Trial trial;
    const char* figures;
  };
  std::vector<Line> lines;
  const auto add = [&lines](const char* name, const std::function<void(Trial&)>& change, const char* figures,
                            bool with_iterations = true) {
    lines.push_back({name, trial_of(with_iterations), figures});
    change(lines.back().trial);
  };
  add(
      "first come, first served",
      [](Trial& t) {
        t.setup.preemptive = false;
        t.setup.strict = true;
        t.setup.key = by_submit;
      },
      "jct 87233 held 19886 waited 67347 overhead 0 restarting 0 redone 0 away 0 undetected 0 | compute "
      "62715 lost 0 slowed 0 busy 62715 down 0 | 0 preempted 0 struck 0 covered 0 failures 44 attempts 623 "
      "iterations, digest ef825857fc1c0ab5");
  add(
      "preemptions that lose work",
      [](Trial& t) {
        t.options.rules.preemption = {in_ns(6), in_ns(50), in_ns(4), in_ns(9), in_ns(3)};
        t.options.rules.preemption.iterations = 3;
      },
      "jct 59515 held 23183 waited 36332 overhead 1361 restarting 248 redone 1453 away 0 undetected 0 | "
      "compute 62715 lost 2158 slowed 0 busy 68481 down 0 | 48 preempted 0 struck 0 covered 0 failures 44 "
      "attempts 623 iterations, digest ea6ac94eaf35b038");
  add(
      "limits and retries",
      [](Trial& t) {
        t.options.rules.kill_at_limit = true;
        t.options.rules.ties = TieOrder::latest;
        t.options.rules.failures = {
            .times = 2, .delay = in_ns(9), .growth = 1'500, .max_delay = in_ns(12), .at_end = true};
        t.options.rules.timeouts = {.times = 1, .delay = in_ns(4), .from_start = true};
        t.options.rules.preemption = {in_ns(6), in_ns(50), in_ns(4), in_ns(9)};
      },
      "jct 62651 held 21109 waited 41350 overhead 1634 restarting 238 redone 3111 away 192 undetected 0 | "
      "compute 63085 lost 8023 slowed 0 busy 77064 down 0 | 37 preempted 0 struck 0 covered 0 failures 62 "
      "attempts 576 iterations, digest f40a18a8749fc87a",
      false);
  add(
      "a quantum, scattered jobs, reserved GPUs",
      [](Trial& t) {
        t.options.rules.quantum = in_ns(32);
        t.options.rules.scatter_penalty = {1'100, 1'400};
        for (JobSpec& job : t.workload.jobs)
          if (job.duration) job.gpu_share = job.gpus > 1 ? kWholeGpu : 400;
      },
      "jct 58982 held 22318 waited 36664 overhead 0 restarting 0 redone 610 away 0 undetected 0 | compute "
      "62715 lost 535 slowed 0 busy 65660 down 0 | 28 preempted 0 struck 0 covered 0 failures 44 attempts "
      "623 iterations, digest ae752bb81f699e8");
  add(
      "failures",
      [](Trial& t) {
        t.options.failures = failing();
        t.options.failures.retries = 3;
        t.options.rules.preemption = {in_ns(6), in_ns(50), in_ns(4), in_ns(9)};
      },
      "jct 46043 held 23756 waited 44708 overhead 2297 restarting 652 redone 3050 away 721 undetected 441 "
      "| compute 55801 lost 9628 slowed 0 busy 69847 down 5808 | 59 preempted 63 struck 0 covered 55 "
      "failures 44 attempts 591 iterations, digest ad8fc4ec698df488");
  add(
      "failures of jobs, some of which hang",
      [](Trial& t) {
        t.options.failures = failing();
        t.options.failures.of_jobs = DurationLaw::exponential(in_ns(700));
        t.options.failures.hangs = 0.3;
        t.options.failures.jobs_found_by = FoundBy::exit_code;
        t.options.failures.detectors.timeout = in_ns(100);
        t.options.failures.detectors.timeout_iterations = 2;
        t.options.failures.detectors.exit_code = in_ns(2);
        t.options.failures.holds_gpus = false;
        t.options.failures.requeues_last = true;
        t.options.rules.ties = TieOrder::latest;
      },
      "jct 63057 held 21975 waited 39421 overhead 0 restarting 0 redone 2140 away 1661 undetected 1171 | "
      "compute 62715 lost 4040 slowed 0 busy 66755 down 5689 | 127 preempted 98 struck 0 covered 53 "
      "failures 44 attempts 623 iterations, digest ec4f9a09f5762dc");
  add(
      "spares, hot and cold",
      [](Trial& t) {
        t.options.failures = failing();
        t.options.failures.components[0].drains = true;
        t.options.failures.spares = t.options.failures.cold_spares = 1;
        t.options.failures.spare_delay = in_ns(8);
        t.options.failures.cold_delay = in_ns(40);
        t.cluster.servers = 6;
      },
      "jct 58171 held 21439 waited 35928 overhead 0 restarting 0 redone 2205 away 804 undetected 469 | "
      "compute 62715 lost 2867 slowed 0 busy 65582 down 43868 | 67 preempted 67 struck 0 covered 61 "
      "failures 44 attempts 623 iterations, digest 55f3c90575d012cc");
  add(
      "slow GPUs, which a monitor isolates",
      [](Trial& t) {
        std::erase_if(t.workload.jobs, [](const JobSpec& job) { return job.duration.has_value(); });
        t.options.failures = failing();
        for (ComponentClass& each : t.options.failures.components) {
          each.failure = DurationLaw::exponential(in_ns(400));
          each.repair = DurationLaw::lognormal(in_ns(150), 1);
          each.slows = Slowdown{1'700, 1'000};
        }
        t.options.failures.components[0].found_by = FoundBy::slowdown;
        t.options.failures.components[0].drains = true;
        t.options.failures.detectors.slow_for = in_ns(30);
        t.options.rules.preemption.iterations = 2;
      },
      "jct 73869 held 21972 waited 50297 overhead 0 restarting 0 redone 13614 away 1600 undetected 0 | "
      "compute 16770 lost 28154 slowed 6079 busy 51003 down 176016 | 86 preempted 320 struck 0 covered 469 "
      "failures 14 attempts 217 iterations, digest f895d290dd2593f4");
  add(
      "planned outages",
      [](Trial& t) {
        for (std::uint32_t s = 0; s < 4; ++s) {
          t.options.failures.outages.push_back(outage(300 + 200 * s, 450 + 250 * s, 4 * s, 4 * s + 3));
          if (s % 2 == 0) t.options.failures.outages.back().drain = in_ns(200 + 200 * s);
        }
      },
      "jct 57302 held 21352 waited 35950 overhead 0 restarting 0 redone 1032 away 0 undetected 0 | compute "
      "62715 lost 991 slowed 0 busy 63706 down 2748 | 42 preempted 6 struck 0 covered 2 failures 44 "
      "attempts 623 iterations, digest cccb7e71202c9ba0");
  add(
      "replicas that cover each other",
      [](Trial& t) {
        t.options.failures = failing();
        t.options.failures.redundancy = {
            .cover = RedundancyRule::Cover::replicas, .step_cost = 1'200, .failover = in_ns(5), .rejoin = in_ns(3)};
        for (JobSpec& job : t.workload.jobs) job.gpu_share = kWholeGpu;
      },
      "jct 69381 held 23841 waited 45504 overhead 5591 restarting 0 redone 0 away 36 undetected 21 | "
      "compute 69141 lost 0 slowed 0 busy 86584 down 7887 | 12 preempted 3 struck 72 covered 70 failures "
      "52 attempts 623 iterations, digest 1dab24099087e737",
      false);
  for (const bool beside : {false, true}) {
    add(
        beside ? "a store that jobs share, and that they write to as they go on" : "a store that jobs share",
        [beside](Trial& t) {
          t.options.failures = failing();
          t.options.failures.detection = in_ns(0);
          t.options.rules.store = StoreRates{ByteRate{4e9}, ByteRate{3e9}};
          t.options.rules.preemption = {in_ns(6), in_ns(80), in_ns(2)};
          t.options.rules.preemption.iterations = beside ? 0 : 4;
          t.options.rules.preemption.written = Bytes{70};
          t.options.rules.preemption.writes_beside = beside;
        },
        beside ? "jct 186675 held 58409 waited 127411 overhead 17329 restarting 1631 redone 22152 away 855 undetected "
                 "0 | compute 62715 lost 80940 slowed 0 busy 201333 down 17092 | 125 preempted 171 struck 0 covered "
                 "163 failures 44 attempts 623 iterations, digest 821b12e61e7fe729"
               : "jct 225484 held 70542 waited 154037 overhead 34503 restarting 1951 redone 16493 away 905 undetected "
                 "0 | compute 62715 lost 60259 slowed 0 busy 236687 down 20137 | 194 preempted 181 struck 0 covered "
                 "187 failures 44 attempts 623 iterations, digest 856dcc2ce81df0e8");
  }
  add(
      "types of servers, of which some are slow",
      [](Trial& t) {
        t.cluster.types = {{"fast", 1, 4, Bytes{100}}, {"slow", 3, 4, Bytes{100}}};
        t.workload.paces = {{{kNominalPace, 0}, {kNominalPace * 3 / 2, 0}},
                            {{kNominalPace, kNominalPace * 5 / 4}, {0}}};
        for (JobSpec& job : t.workload.jobs) job.pace = job.gpus <= 4 && job.gpus > 1 ? 1 : 0;
      },
      "jct 94557 held 22234 waited 72323 overhead 0 restarting 0 redone 0 away 0 undetected 0 | compute "
      "69141 lost 0 slowed 0 busy 90495 down 0 | 131 preempted 0 struck 0 covered 0 failures 52 attempts "
      "623 iterations, digest 15c8d1e610a4fa2a",
      false);
  for (const Line& line : lines) {
    CAPTURE(line.name);
    CHECK(figures_of(line.trial) == std::string{line.figures});
  }
}
