// Tests preemption: a queued job takes the GPUs of running jobs with larger keys.

#include "sim/error.hpp"
#include "tests/sim/test_kit.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {
Setup preemptive(int servers, int gpus_per_server) {
  Setup setup{servers, gpus_per_server, 100, by_remaining_service};
  setup.preemptive = true;
  return setup;
}
}  // namespace

TEST_CASE("a shorter job takes the GPU at once; the victim loses the iteration in flight and goes on later") {
  // A: 3 x 10, B: 5 at 14. At 14: A has 20 left, B 5. A's second task, 10-14, is cut off and lost. B 14-19, A 19-29,
  // 29-39. GPU busy 10 + 4 + 5 + 20, of which A's own 30 and B's 5 count as compute.
  const Run run = simulate(preemptive(1, 1), {{"role w 1 | compute a w 10 | a => a", {0}, 3, 0, 60},
                                              {"role w 1 | compute b w 5", {0}, 1, 14, 60}});
  CHECK(run.seen.gpu(0) == "A.a#0 0-10 | B.b#0 14-19 | A.a#1 19-29 | A.a#2 29-39");
  CHECK(run.result.jobs[0].preemptions == 1);
  CHECK(run.result.jobs[0].start.ns() == 0);
  CHECK(run.result.jobs[0].compute.ns() == 30);
  CHECK(run.result.jobs[0].lost.ns() == 4);
  CHECK(run.result.jobs[1].lost.ns() == 0);
  CHECK(run.result.jobs[0].iterations_done == 3);
  CHECK(run.result.jobs[1].preemptions == 0);
  CHECK(run.result.gpus[0].busy.ns() == 39);
  CHECK(run.result.gpus[0].jobs == 3);
}

TEST_CASE("a preempted job of iterations goes back to its last checkpoint, and restarts") {
  const auto run = [](const PreemptionCosts& costs) {
    Setup setup = preemptive(1, 1);
    setup.costs = costs;
    return simulate(
        setup, {{"role w 1 | compute a w 10 | a => a", {0}, 5, 0, 60}, {"role w 1 | compute b w 5", {0}, 1, 24, 60}});
  };
  // B 24-29. All is saved at the end of each iteration: the restart 29-31, and three iterations more.
  PreemptionCosts costs;
  costs.restart = Time::nanoseconds(2);
  const Run restarted = run(costs);
  CHECK(restarted.seen.gpu(0) == "A.a#0 0-10 | A.a#1 10-20 | B.b#0 24-29 | A.a#2 31-41 | A.a#3 41-51 | A.a#4 51-61");
  CHECK(restarted.result.jobs[0].lost.ns() == 4);
  CHECK(restarted.result.jobs[0].restarting.ns() == 2);
  // Nothing is saved: five iterations more.
  costs.iterations = kNoIterationSaved;
  const Run from_start = run(costs);
  CHECK(from_start.finish(0) == 81);
  CHECK(from_start.result.jobs[0].lost.ns() == 24);
  CHECK(from_start.result.jobs[0].compute.ns() == 50);
  // Every second iteration is followed by a checkpoint of 3: the job is in it at 24, so nothing is saved.
  costs.iterations = 2;
  costs.checkpoint = Time::nanoseconds(5);
  CHECK(run(costs).finish(0) == 31 + 5 * 10 + 2 * 5);
  costs.checkpoint = Time::nanoseconds(3);
  const Run saved = run(costs);
  CHECK(saved.finish(0) == 31 + 3 * 10 + 3);
  CHECK(saved.result.jobs[0].lost.ns() == 1);
}

TEST_CASE("the lost GPU time of a job of iterations: what ended and what was cut off, on each GPU") {
  // A on both GPUs: f 0-10, b 10-15, and again 15-25, 25-30. C takes GPU 0 at 28: f#1 and 3 of b#1, on two GPUs, are
  // lost. A starts again at 31: f#1 31-41, b#1 41-46.
  const std::string two = "role w 2 | compute f w 10 | compute b w 5 | f -> b | b => f";
  const std::string one = "role w 1 | compute c w 3";
  const Run run = simulate(preemptive(1, 2), {{two, {0, 1}, 2, 0, 60}, {one, {0}, 1, 28, 60}});
  CHECK(run.finish(0) == 46);
  CHECK(run.result.jobs[0].compute.ns() == 60);
  CHECK(run.result.jobs[0].lost.ns() == 2 * 13);
  CHECK(run.result.gpus[0].busy.ns() == 28 + 3 + 15);
  CHECK(run.result.gpus[1].busy.ns() == 28 + 15);
}

TEST_CASE("no job is preempted if there is room, by a job with a larger key, or in vain") {
  const std::string ten = "role w 1 | compute x w 10";
  // Room for both: they share.
  CHECK(simulate(preemptive(1, 1), {{ten, {0}, 1, 0, 50}, {ten, {0}, 1, 1, 50}}).result.jobs[0].preemptions == 0);
  // The newcomer is longer, or equal: it waits.
  CHECK(simulate(preemptive(1, 1), {{ten, {0}, 1, 0, 60}, {"role w 1 | compute y w 11", {0}, 1, 1, 60}}).start(1) ==
        10);
  CHECK(simulate(preemptive(1, 1), {{ten, {0}, 1, 0, 60}, {ten, {0}, 1, 1, 60}}).start(1) == 10);
  // Two GPUs are needed, but only A (20 left) may be pushed out, not B (2 left): C (8) waits for B to end at 2 and for
  // then pushes A out.
  const Run run = simulate(preemptive(1, 2), {{"role w 1 | compute a w 20", {0}, 1, 0, 60},
                                              {"role w 1 | compute b w 2", {1}, 1, 0, 60},
                                              {"role w 2 | compute c w 4", {0, 1}, 1, 1, 60}});
  CHECK(run.start(2) == 2);
  CHECK(run.result.jobs[0].preemptions == 1);
  CHECK(run.result.jobs[1].preemptions == 0);
  CHECK(run.finish(2) == 6);
  CHECK(run.finish(0) == 26);  // from the start: its only iteration was lost
}

TEST_CASE("the job with the largest key is preempted first, and no more jobs than needed") {
  // On each of three GPUs one job: 30, 50, 40 left. D (5) would take any; all GPUs are in its list of one.
  const Run run = simulate(preemptive(1, 3), {{"role w 1 | compute a w 30", {0}, 1, 0, 60},
                                              {"role w 1 | compute b w 50", {1}, 1, 0, 60},
                                              {"role w 1 | compute c w 40", {2}, 1, 0, 60},
                                              {"role w 1 | compute d w 5", {1}, 1, 10, 60}});
  CHECK(run.result.jobs[0].preemptions == 0);
  CHECK(run.result.jobs[1].preemptions == 1);
  CHECK(run.result.jobs[2].preemptions == 0);
  CHECK(run.start(3) == 10);
  CHECK(run.finish(1) == 65);
}

TEST_CASE(
    "the transfer of a preempted job is cancelled and its waiting message dropped; the network is free for others") {
  // A: f 0-10, g 10-110 on servers 0-1, pushed out at 30 by C on GPU 0. B's message waits since 12 and enters at 30.
  Setup setup = preemptive(2, 2);
  setup.ways = 1;
  const Run run =
      simulate(setup, {{"role w 2 | compute f w 10 | all-reduce g w 100 | f -> g | g => f", {0, 2}, 5, 0, 60},
                       {"role w 2 | compute f w 12 | all-reduce g w 20 | f -> g", {1, 3}, 1, 0, 60},
                       {"role w 1 | compute c w 3", {0}, 1, 30, 60}});
  CHECK(run.seen.network().substr(0, 11) == "B.g#0 30-50");
  CHECK(run.result.jobs[1].communication_wait.ns() == 18);
  CHECK(run.result.jobs[0].preemptions == 1);
  // A starts again at 33: f 33-43, g 50-150 (B is in the network until 50), and four iterations more: 150 + 4 x 110.
  CHECK(run.finish(0) == 590);
  CHECK(run.result.jobs[0].communication.ns() == 20 + 500);
  CHECK(run.result.jobs[0].communication_wait.ns() == 7);
  CHECK(run.result.jobs[0].compute.ns() == 5 * 2 * 10);
  CHECK(run.result.links[0].transfers == 1 + 1 + 5);

  // The same with the message of the victim still waiting: nothing of it is left behind.
  const Run waiting =
      simulate(setup, {{"role w 2 | compute f w 20 | all-reduce g w 100 | f -> g | g => f", {0, 2}, 2, 0, 60},
                       {"role w 2 | compute f w 10 | all-reduce g w 50 | f -> g", {1, 3}, 1, 0, 60},
                       {"role w 1 | compute c w 30", {0}, 1, 30, 60}});
  // A waits since 20 behind B (10-60) and is pushed out at 30. C 30-60, A again: f 60-80, g 80-180, f, g: 300.
  CHECK(waiting.seen.network() == "B.g#0 10-60 | A.g#0 80-180 | A.g#1 200-300");
  CHECK(waiting.result.jobs[0].communication_wait.ns() == 10);
}

namespace {

/// Starts the first job, takes its GPU away again after 2 ns, and so on; the others wait.
class Restless final : public SchedulingPolicy {
 public:
  [[nodiscard]] PolicyKey key(const JobView&) const override { return 0; }
  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    if (cluster.now() >= next_) next_ = cluster.now() + Time::nanoseconds(2);
    if (cluster.job(JobId{0U}).running) actions.preempt(JobId{0U});
    CHECK(actions.start(JobId{0U}));
  }
  [[nodiscard]] bool idle_passes() const override { return true; }
  [[nodiscard]] Time next_decision(const ClusterView&) override { return next_; }

 private:
  Time next_;
};

/// Asks for a pass a second later, again and again, and starts no job.
class Undecided final : public SchedulingPolicy {
 public:
  [[nodiscard]] PolicyKey key(const JobView&) const override { return 0; }
  void pass(const ClusterView&, SchedulingActions&) override {}
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override { return cluster.now() + Time::seconds(1); }
};

/// What the engine says of the first of so many jobs, which has 100 ns of work or 100 iterations of 10 ns.
std::string complaint_of_restless(int jobs, bool timed, const PreemptionCosts& costs) {
  Workload workload;
  workload.graphs = {graph_from_text("role w 1 | compute a w 10 | a => a")};
  for (int j = 0; j < jobs; ++j) {
    workload.jobs.push_back(timed_ns(0, 100));
    if (!timed) workload.jobs.back().duration.reset();
    workload.jobs.back().iterations = 100;
    workload.jobs.back().name = fmt::format("job{}", j);
  }
  PolicySet policies = policies_of({}, {});
  policies.scheduling = std::make_unique<Restless>();
  policies.placement = std::make_unique<AnyGpus>();
  SimulationOptions options;
  options.rules.preemption = costs;
  Simulation simulation{{1, 1, Bytes{100}},
                        std::move(workload),
                        std::move(policies),
                        std::make_unique<FixedNetwork>(1, 1, static_cast<std::size_t>(jobs)),
                        std::move(options)};
  try {
    static_cast<void>(simulation.run());
  } catch (const InputError& error) {
    return error.what();
  }
  return "it ends";
}

}  // namespace

TEST_CASE("a policy that undoes all work ends the run, after 10,000 preemptions in vain, or 20 for each job") {
  PreemptionCosts costs;
  costs.restart = Time::seconds(3);
  costs.checkpoint_interval = Time::seconds(7);
  const auto text = [](int times, const char* to_save) {
    return fmt::format(
        "scheduling policy `test-scheduling`: the last {} preemptions, until 0 s, undid all work since the last "
        "checkpoint, and no job ended; the last was that of job `job0`. Jobs need 3 s for the restart and {}: longer "
        "time slices or more checkpoints would let them save some work",
        times, to_save);
  };
  constexpr const char* kNothing = "all of their work, because nothing is saved before they end";
  CHECK(complaint_of_restless(1, true, costs) == text(10'000, "7 s to the next checkpoint"));
  CHECK(complaint_of_restless(500, true, costs) == text(10'000, "7 s to the next checkpoint"));
  CHECK(complaint_of_restless(501, true, costs) == text(10'020, "7 s to the next checkpoint"));
  costs.checkpoint_interval = kNeverSaved;
  CHECK(complaint_of_restless(1, true, costs) == text(10'000, kNothing));
  costs.iterations = 5;
  CHECK(complaint_of_restless(1, false, costs) == text(10'000, "5 iterations to the next checkpoint"));
  costs.iterations = kNoIterationSaved;
  CHECK(complaint_of_restless(1, false, costs) == text(10'000, kNothing));
}

TEST_CASE("policies that decide on and on, with nothing else to happen, end the run") {
  const auto run_with = [](Time until) {
    Workload workload;
    workload.jobs = {timed_ns(0, 100), timed_ns(5'000'000'000, 100)};
    workload.jobs[0].name = "a";
    PolicySet policies = policies_of({}, {});
    policies.scheduling = std::make_unique<Undecided>();
    policies.placement = std::make_unique<AnyGpus>();
    SimulationOptions options;
    options.until = until;
    Simulation simulation{{1, 1, Bytes{100}},
                          std::move(workload),
                          std::move(policies),
                          std::make_unique<FixedNetwork>(1, 1, std::size_t{2}),
                          std::move(options)};
    return simulation.run();
  };
  // The first passes, until the arrival of the second job, don't count.
  CHECK_THROWS_WITH_AS(static_cast<void>(run_with(Time::never())),
                       "scheduling policy `test-scheduling`, placement policy `test-placement`: their last 1000000 "
                       "decisions, until 1000004 s, started no job, and nothing else is to happen; 2 jobs wait, first "
                       "`a` on 1 GPU",
                       InputError);
  CHECK(run_with(Time::seconds(1'100'000)).interrupted);  // that ends by itself
}
