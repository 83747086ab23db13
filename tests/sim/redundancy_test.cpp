// Tests jobs that go on without GPUs that have failed: which failures are covered, how fast and how long they go on,
// what an uncovered failure costs, and that all time and all GPUs are accounted for.

#include "sim/sharing.hpp"
#include "tests/sim/struck_cluster.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

using Cover = RedundancyRule::Cover;

RedundancyRule rule(Cover cover, int stages) {
  RedundancyRule made;
  made.cover = cover;
  made.stages = stages;
  return made;
}

/// A job of 1000 ns on all servers of one GPU.
StruckCluster pipeline(int gpus, const RedundancyRule& redundancy) {
  StruckCluster cluster{.servers = gpus, .jobs = {timed_ns(0, 1000, gpus)}};
  cluster.failures.redundancy = redundancy;
  return cluster;
}

/// A job of 20 iterations of 107 ns on 4 servers of one GPU, that is two stages of two replicas.
StruckCluster iterating(Time failover) {
  JobSpec job;
  job.gpus = 4;
  job.iterations = 20;
  job.layout.stage = 2;
  StruckCluster cluster{
      .servers = 4, .jobs = {job}, .graphs = {"role w 4 | compute x w 100 | all-reduce g w 7 | x -> g | g => x"}};
  cluster.failures.redundancy = rule(Cover::replicas, 1);
  cluster.failures.redundancy.failover = failover;
  return cluster;
}

}  // namespace

TEST_CASE("which failures are covered: of neighbours one, of replicas all but one") {
  const RedundancyRule neighbours = rule(Cover::neighbours, 4), replicas = rule(Cover::replicas, 4);
  // 4 stages of 3 replicas: ranks 0 to 2 are stage 0, and pipeline 1 is 1, 4, 7, 10.
  const auto covers = [](const RedundancyRule& by, const std::vector<int>& out) { return by.covers(out, 12); };
  CHECK(covers(neighbours, {}));
  CHECK(covers(neighbours, {3, 4, 5}));      // a whole stage
  CHECK(covers(neighbours, {1, 7}));         // every other stage of a pipeline
  CHECK(covers(neighbours, {1, 5}));         // neighbouring stages of two pipelines
  CHECK(!covers(neighbours, {1, 4}));        // of one
  CHECK(!covers(neighbours, {2, 11}));       // the last stage holds the first
  CHECK(covers(replicas, {1, 4, 7, 10}));    // a whole pipeline
  CHECK(covers(replicas, {0, 1, 3, 5, 7}));  // two of a stage
  CHECK(!covers(replicas, {3, 4, 5}));       // a whole stage
  RedundancyRule one = replicas;
  one.tolerates = 1;
  CHECK(covers(one, {4}));
  CHECK(!covers(one, {4, 7}));
  CHECK(!covers(RedundancyRule{}, {4}));
}

TEST_CASE("how fast a job goes on: as its slowest rank does, or as those that are left together") {
  RedundancyRule by = rule(Cover::neighbours, 4);
  CHECK(by.speed({}, 12) == kFullSpeed);
  CHECK(by.speed(std::vector{3, 4, 5}, 12) == kFullSpeed / 2);
  by.step_cost = 1'250;
  CHECK(by.speed({}, 12) == kFullSpeed * 4 / 5);
  CHECK(by.speed(std::vector{3}, 12) == kFullSpeed * 2 / 5);
  by = rule(Cover::replicas, 3);
  CHECK(by.speed(std::vector{0, 5, 9}, 12) == kFullSpeed * 3 / 4);
  CHECK(by.speed(std::vector{0, 1, 5}, 12) == kFullSpeed / 2);
  by.spreads_over_job = true;
  CHECK(by.speed(std::vector{0, 1, 5}, 12) == kFullSpeed * 3 / 4);
}

TEST_CASE("a neighbour does the work of a GPU that is out, between two pauses") {
  StruckCluster cluster = pipeline(4, rule(Cover::neighbours, 4));
  cluster.failures.redundancy.failover = Time::nanoseconds(10);
  cluster.failures.redundancy.rejoin = Time::nanoseconds(5);
  cluster.failures.outages = {outage(100, 300, 2, 3)};
  const RunResult result = cluster.run();
  const JobResult& job = result.jobs[0];
  // 100 of work until 100, then 10 of pause; 190 ns at half the speed are 95; at 300 a pause of 5, and 805 are left.
  CHECK(job.finish.ns() == 305 + 805);
  CHECK(job.covered == 1);
  CHECK(job.interruptions == 0);
  CHECK(job.overhead.ns() == 10 + 95 + 5);
  CHECK(job.useful().ns() == 1000);
  CHECK(result.gpus[2].down.ns() == 200);
  CHECK(result.gpus[2].busy.ns() == 1110 - 200);
  check_sums(result);
  // Detection comes before the pause, and an end before the repair leaves the GPU out of service.
  cluster.failures.detection = Time::nanoseconds(20);
  cluster.failures.outages = {outage(980, 3'000, 0, 1)};
  const RunResult late = cluster.run();
  CHECK(late.jobs[0].finish.ns() == 980 + 30 + 40);
  check_sums(late);
}

TEST_CASE("a failure during a pause begins another, and a second one at the same instant doesn't") {
  StruckCluster cluster = pipeline(8, rule(Cover::replicas, 2));
  cluster.failures.redundancy.failover = Time::nanoseconds(50);
  cluster.failures.outages = {outage(100, 5'000, 0, 1), outage(120, 5'000, 4, 5)};
  // From 170 on at three quarters: 900 of work take 1200.
  CHECK(cluster.run().jobs[0].finish.ns() == 170 + 1200);
  CHECK(cluster.run().jobs[0].covered == 2);
  cluster.failures.outages = {outage(100, 5'000, 0, 1), outage(100, 5'000, 4, 5)};
  const RunResult together = cluster.run();
  CHECK(together.jobs[0].finish.ns() == 150 + 1200);
  CHECK(together.jobs[0].covered == 1);
  check_sums(together);
  // A pause of its own: the GPU that comes back at 110 pauses until 150 at the latest.
  cluster.failures.redundancy.rejoin = Time::nanoseconds(10);
  cluster.failures.outages = {outage(100, 110, 0, 1)};
  CHECK(cluster.run().jobs[0].finish.ns() == 150 + 900);
}

TEST_CASE("a failure that is not covered sends the job back to its last checkpoint, and frees what is left") {
  StruckCluster cluster = pipeline(4, rule(Cover::neighbours, 4));
  cluster.servers = 6;
  cluster.costs = {Time::nanoseconds(7), Time::nanoseconds(100), Time{}};
  cluster.failures.outages = {outage(150, 2'000, 1, 2), outage(250, 2'000, 2, 3)};
  // At 150 there are 150 of work; at half the speed 200 at 250, which has just been saved. GPUs 0, 3, 4 and 5 take the
  // job with a restart of 7.
  const RunResult result = cluster.run();
  const JobResult& job = result.jobs[0];
  CHECK(job.covered == 1);
  CHECK(job.interruptions == 1);
  CHECK(job.finish.ns() == 250 + 7 + 800);
  CHECK(job.redone.ns() == 0);
  CHECK(job.overhead.ns() == 50 + 7);
  CHECK(result.gpus[1].down.ns() == job.finish.ns() - 150);
  check_sums(result);
  // 20 ns earlier 190 have been done, of which 100 are saved.
  cluster.failures.outages[1] = outage(230, 2'000, 2, 3);
  const RunResult early = cluster.run();
  CHECK(early.jobs[0].finish.ns() == 230 + 7 + 900);
  CHECK(early.jobs[0].lost.ns() == 4 * 90);
  CHECK(early.jobs[0].useful().ns() == 1000);
  check_sums(early);
}

TEST_CASE("a gang that is held for diagnosis holds nothing of what it went on without") {
  StruckCluster cluster = pipeline(4, rule(Cover::neighbours, 4));
  cluster.failures.diagnosis = Time::nanoseconds(100);
  cluster.failures.outages = {outage(150, 260, 1, 2), outage(250, 300, 2, 3)};
  const RunResult result = cluster.run();
  CHECK(result.jobs[0].interruptions == 1);
  CHECK(result.jobs[0].finish.ns() == 350 + 800);  // nothing is lost: work is saved continuously
  CHECK(result.gpus[1].down.ns() == 110);
  check_sums(result);
}

TEST_CASE("a job that fails by itself is interrupted, whatever its redundancy") {
  StruckCluster cluster = pipeline(4, rule(Cover::replicas, 1));
  cluster.failures.of_jobs = DurationLaw::constant(Time::nanoseconds(400));
  cluster.failures.redundancy.step_cost = 2'000;
  const RunResult result = cluster.run();
  CHECK(result.jobs[0].interruptions == 4);
  CHECK(result.jobs[0].covered == 0);
  CHECK(result.jobs[0].finish.ns() == 2000);
  CHECK(result.jobs[0].overhead.ns() == 1000);
}

TEST_CASE("CheckFree's list of lost stages: with neighbours each costs its pause, and no iteration is done again") {
  // 7 stages of 3 replicas; of failures_33.json the iterations and stages. An iteration takes 100 ns.
  struct Loss {
    std::int64_t iteration;
    std::uint32_t stage;
  };
  constexpr Loss kLosses[] = {{39, 1}, {128, 1}, {148, 6}, {176, 4}, {395, 1}, {481, 4}, {482, 2}};
  constexpr std::int64_t kPause = 30, kRepair = 20;
  StruckCluster cluster{.servers = 21, .jobs = {timed_ns(0, 500 * 100, 21)}};
  cluster.failures.redundancy = rule(Cover::neighbours, 7);
  cluster.failures.redundancy.failover = Time::nanoseconds(kPause);
  std::int64_t pauses = 0;
  for (const auto& [iteration, stage] : kLosses) {
    const std::int64_t at = iteration * 100 + pauses;
    cluster.failures.outages.push_back(outage(at, at + kRepair, 3 * stage, 3 * stage + 3));
    pauses += kPause;
  }
  const RunResult result = cluster.run();
  CHECK(result.jobs[0].covered == 7);
  CHECK(result.jobs[0].finish.ns() == 500 * 100 + 7 * kPause);
  CHECK(result.jobs[0].redone == Time{});
  check_sums(result);
}

TEST_CASE("whose tasks take longer: the tasks of who is out and of who does their work") {
  const auto paces = [](const RedundancyRule& by, const std::vector<int>& out, int together = 1) {
    return by.paces(out, 8, together);
  };
  using Paces = std::vector<std::int32_t>;
  RedundancyRule by = rule(Cover::neighbours, 4);
  CHECK(paces(by, {}) == Paces(8, 1000));
  CHECK(paces(by, {4}) == Paces{1000, 1000, 2000, 1000, 2000, 1000, 1000, 1000});
  CHECK(paces(by, {1}) == Paces{1000, 2000, 1000, 1000, 1000, 1000, 1000, 2000});  // the last stage holds the first
  by.step_cost = 1'100;
  CHECK(paces(by, {5}) == Paces{1100, 1100, 1100, 2200, 1100, 2200, 1100, 1100});
  by = rule(Cover::replicas, 2);
  CHECK(paces(by, {0, 5, 6}) == Paces{1334, 1334, 1334, 1334, 2000, 2000, 2000, 2000});
  CHECK(paces(by, {0}, 2) == Paces{2000, 2000, 2000, 2000, 1000, 1000, 1000, 1000});  // GPU 1 is lost with it
  by.spreads_over_job = true;
  CHECK(paces(by, {0, 5}) == Paces(8, 1334));
  // A group is covered as a whole.
  CHECK(rule(Cover::replicas, 4).covers(std::vector{2}, 8, 1));
  CHECK(!rule(Cover::replicas, 4).covers(std::vector{2}, 8, 2));
  CHECK(rule(Cover::neighbours, 4).covers(std::vector{0, 3}, 8, 1));
  CHECK(!rule(Cover::neighbours, 4).covers(std::vector{0, 3}, 8, 2));
}

TEST_CASE("a job of iterations goes on without a GPU, and begins the iteration in flight again") {
  StruckCluster cluster = iterating(Time::nanoseconds(10));
  cluster.failures.redundancy.rejoin = Time::nanoseconds(5);
  cluster.failures.outages = {outage(250, 1'000, 2, 3)};
  const RunResult result = cluster.run_both_ways();
  const JobResult& job = result.jobs[0];
  // Two iterations have ended at 214, and 36 ns are lost. From 260 on the tasks of GPUs 2 and 3 take 200: three
  // iterations of 207 end at 881, and 119 ns are lost at 1000. From 1005 on 15 iterations take 107 each.
  CHECK(job.finish.ns() == 1005 + 15 * 107);
  CHECK(job.covered == 1);
  CHECK(job.interruptions == 0);
  CHECK(job.starts == 1);
  CHECK(job.overhead.ns() == 15);
  CHECK(job.restarting == Time{});
  CHECK(job.redone.ns() == 36 + 119);
  CHECK(job.lost.ns() == 4 * 36 + 2 * 100 + 2 * 119);
  CHECK(job.lost_to_failures.ns() == 4 * 36);
  CHECK(job.slowed.ns() == 3 * 2 * 100);
  CHECK(job.compute.ns() == 20 * 4 * 100);
  CHECK(result.gpus[2].down.ns() == 750);
  CHECK(result.gpus[2].busy.ns() == 236 + 15 * 100);
  CHECK(result.gpus[3].busy.ns() == 236 + 3 * 200 + 119 + 15 * 100);
  CHECK(result.gpus[0].busy.ns() == 236 + 3 * 100 + 100 + 15 * 100);
}

TEST_CASE("a job of iterations that stands for one covered failure stands longer for the next") {
  StruckCluster cluster = iterating(Time::nanoseconds(50));
  cluster.failures.outages = {outage(250, 9'000, 2, 3), outage(270, 9'000, 0, 1)};
  const RunResult result = cluster.run_both_ways();
  CHECK(result.jobs[0].finish.ns() == 320 + 18 * 207);
  CHECK(result.jobs[0].covered == 2);
  CHECK(result.jobs[0].overhead.ns() == 70);
  CHECK(result.jobs[0].redone.ns() == 36);
  // What has come back before the job goes on has no part in how fast it does.
  cluster.failures.outages = {outage(250, 260, 2, 3), outage(270, 9'000, 0, 1)};
  CHECK(cluster.run_both_ways().jobs[0].finish.ns() == 320 + 18 * 207);
  cluster.failures.outages = {outage(250, 260, 2, 3)};
  CHECK(cluster.run_both_ways().jobs[0].finish.ns() == 300 + 18 * 107);
}

TEST_CASE("a failure that is not covered sends a job of iterations back to the checkpoint from before a covered one") {
  StruckCluster cluster = iterating(Time::nanoseconds(10));
  cluster.costs.iterations = 4;
  cluster.failures.outages = {outage(250, 800, 2, 3), outage(600, 700, 3, 4)};
  // Nothing has been saved: all 600 ns but for the pause are lost, and the job begins again when GPU 2 is back.
  const RunResult result = cluster.run_both_ways();
  CHECK(result.jobs[0].finish.ns() == 800 + 20 * 107);
  CHECK(result.jobs[0].interruptions == 1);
  CHECK(result.jobs[0].overhead.ns() == 10);
  CHECK(result.jobs[0].redone.ns() == 590);
  CHECK(result.jobs[0].useful().ns() == 20 * 107);
  // At 674 four iterations have ended and are saved.
  cluster.failures.outages[1] = outage(700, 750, 3, 4);
  const RunResult later = cluster.run_both_ways();
  CHECK(later.jobs[0].finish.ns() == 800 + 16 * 107);
  CHECK(later.jobs[0].redone.ns() == 36 + 26);
  // During a pause: what had ended is there, if each iteration is saved.
  cluster.costs.iterations = 1;
  cluster.failures.redundancy.failover = Time::nanoseconds(50);
  cluster.failures.outages = {outage(250, 400, 2, 3), outage(270, 400, 3, 4)};
  const RunResult pause = cluster.run_both_ways();
  CHECK(pause.jobs[0].finish.ns() == 400 + 18 * 107);
  CHECK(pause.jobs[0].overhead.ns() == 20);
  CHECK(pause.jobs[0].redone.ns() == 36);
}

TEST_CASE("a job of iterations with redundancy takes longer all the time, and a slow GPU still longer") {
  StruckCluster cluster = iterating(Time{});
  cluster.failures.redundancy.step_cost = 1'500;
  CHECK(cluster.run_both_ways().jobs[0].finish.ns() == 20 * 157);
  Outage slow = outage(1, 100'000, 0, 1);
  slow.slows = Slowdown{2'000, Slowdown::kFullPace};
  cluster.failures.outages = {slow};
  // Of the first task, 149 of 150 ns are left and take 298.
  CHECK(cluster.run_both_ways().jobs[0].finish.ns() == (1 + 298 + 7) + 19 * 307);
  // So does the next job on these GPUs.
  cluster.failures.outages.clear();
  cluster.jobs.push_back(cluster.jobs[0]);
  CHECK(cluster.run_both_ways().jobs[1].finish.ns() == 2 * 20 * 157);
}

TEST_CASE("a job that stops for checkpoints goes on without a GPU, and leaves out the one that the failure cuts") {
  StruckCluster cluster = iterating(Time::nanoseconds(10));
  cluster.costs.iterations = 2;
  cluster.costs.checkpoint = Time::nanoseconds(30);
  // The first checkpoint would be from 214 to 244. From 230 on all takes longer: 207 each. The fourth ends at 644, and
  // is saved at 674.
  cluster.failures.outages = {outage(220, 9'000, 2, 3), outage(700, 750, 3, 4)};
  const RunResult result = cluster.run_both_ways();
  CHECK(result.jobs[0].covered == 1);
  CHECK(result.jobs[0].finish.ns() == 9'000 + 16 * 107 + 7 * 30);
  CHECK(result.jobs[0].redone.ns() == 26);
  CHECK(result.jobs[0].overhead.ns() == 6 + 10 + 30 + 7 * 30);
}

TEST_CASE("each job of iterations has its own stages, and one without a second stage has no neighbours") {
  // Of 6 GPUs 0 to 3 are two stages of two replicas, and 4 and 5 a data-parallel job.
  StruckCluster cluster = iterating(Time::nanoseconds(10));
  cluster.servers = 6;
  cluster.jobs.push_back(cluster.jobs[0]);
  cluster.jobs[1].gpus = 2;
  cluster.jobs[1].layout.stage = 2;
  cluster.jobs[1].graph = 1;
  cluster.graphs.push_back("role w 2 | compute x w 100 | all-reduce g w 7 | x -> g | g => x");
  // Both GPUs 0 and 1 are all of a stage; 5 has a replica.
  cluster.failures.outages = {outage(250, 300, 0, 2), outage(250, 9'000, 5, 6)};
  const RunResult replicas = cluster.run_both_ways();
  CHECK(replicas.jobs[0].covered == 0);
  CHECK(replicas.jobs[0].interruptions == 1);
  CHECK(replicas.jobs[1].covered == 1);
  CHECK(replicas.jobs[1].finish.ns() == 260 + 18 * 207);
  // With neighbours one GPU of a pipeline may be out, and the job without pipelines, which pays nothing, loses the
  // iteration in flight, and waits for GPU 5.
  cluster.failures.redundancy.cover = Cover::neighbours;
  cluster.failures.redundancy.step_cost = 2'000;
  cluster.failures.outages = {outage(250, 100'000, 0, 1), outage(250, 300, 5, 6)};
  const RunResult neighbours = cluster.run_both_ways();
  CHECK(neighbours.jobs[0].covered == 1);
  CHECK(neighbours.jobs[0].finish.ns() == 260 + 19 * 407);
  CHECK(neighbours.jobs[1].covered == 0);
  CHECK(neighbours.jobs[1].interruptions == 1);
  CHECK(neighbours.jobs[1].finish.ns() == 300 + 18 * 107);
}

TEST_CASE("a job whose GPUs the stages don't divide has no redundancy, which costs nothing") {
  const RedundancyRule of_four = rule(Cover::replicas, 3).of_job(4, 3);
  CHECK_FALSE(of_four.any());
  CHECK(of_four.step_cost == RedundancyRule::kNoStepCost);
  CHECK_FALSE(rule(Cover::neighbours, 4).of_job(2, 4).any());
  CHECK(rule(Cover::replicas, 3).of_job(6, 3).any());
}

TEST_CASE("what redundancy can't mean is refused with the reason") {
  CHECK(pipeline(4, rule(Cover::neighbours, 1)).refusal().find("has a single stage") != std::string::npos);
  StruckCluster groups = iterating(Time{});
  groups.jobs[0].layout.replica = 4;
  CHECK(groups.refusal().find("has groups of 4 GPUs, which the 2 of a stage") != std::string::npos);
}
