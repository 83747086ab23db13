// Tests what jobs of iterations do about components that slow them down: when they take which step, what a step costs,
// and how fast they are after it.

#include "tests/sim/struck_cluster.hpp"

#include <optional>
#include <string>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

Outage slow_outage(std::int64_t from, std::int64_t until, std::uint32_t first, std::uint32_t last, std::int32_t compute,
                   std::int32_t network = Slowdown::kFullPace) {
  Outage made = outage(from, until, first, last);
  made.slows = Slowdown{compute, network};
  return made;
}

/// A job of 20 iterations on 4 of the servers, which have a GPU each. A step is 100 ns of computing and 7 of an
/// all-reduce.
StruckCluster slow_training(int servers) {
  JobSpec job;
  job.gpus = 4;
  job.iterations = 20;
  return {
      .servers = servers, .jobs = {job}, .graphs = {"role w 4 | compute x w 100 | all-reduce g w 7 | x -> g | g => x"}};
}

}  // namespace

TEST_CASE("a job moves micro-batches away from a slow replica when it has lost as much as that costs") {
  StruckCluster cluster = slow_training(4);
  cluster.failures.outages = {slow_outage(1, 90'000, 3, 4, 3000)};
  cluster.failures.mitigation.microbatches = Time::nanoseconds(40);
  // Of each nanosecond two thirds are lost, so that 40 are at 61. The job stands until 101. Speeds of 1, 1, 1 and 1/3
  // share out four parts as 1.2, 1.2, 1.2 and 0.4, and a step takes 127.
  const RunResult result = cluster.run_both_ways();
  CHECK(result.jobs[0].finish.ns() == 101 + 20 * 127);
  CHECK(result.jobs[0].overhead.ns() == 40);
  CHECK(result.jobs[0].redone.ns() == 61);
  CHECK(result.jobs[0].exposed().ns() == 7);
  CHECK(result.jobs[0].slowed.ns() == 4 * 20 * 20);
  CHECK(result.gpus[0].busy.ns() == 61 + 20 * 120);
  CHECK(result.jobs[0].lost_to_failures == GpuTime{});
  // A second one that is slow later takes a share that suits it at once, and when both have recovered all is as before.
  cluster.failures.outages = {slow_outage(1, 482, 3, 4, 3000), slow_outage(355, 482, 2, 3, 3000)};
  // Two iterations until 355. Then speeds of 1, 1, 1/3, 1/3 share out four parts as 1.5, 1.5, 0.5, 0.5. At 482, 127 of
  // 150 ns of computing are over, and the other 23 take 16 from then on. After 505, 17 iterations are left.
  CHECK(cluster.run_both_ways().jobs[0].finish.ns() == 505 + 17 * 107);
}

TEST_CASE("without a step a job does nothing, and one that recovers in time takes none") {
  StruckCluster cluster = slow_training(4);
  cluster.failures.outages = {slow_outage(1, 61, 3, 4, 3000)};
  const std::int64_t alone = cluster.run_both_ways().jobs[0].finish.ns();
  CHECK(alone == 20 * 107 + 40);
  cluster.failures.mitigation.microbatches = Time::nanoseconds(40);
  CHECK(cluster.run_both_ways().jobs[0].finish.ns() == alone);  // it recovers at the very instant
  cluster.failures.outages[0].until = Time::nanoseconds(62);
  // It recovers while it stands.
  CHECK(cluster.run_both_ways().jobs[0].finish.ns() == 101 + 20 * 107);
}

TEST_CASE("a job that has gone on losing saves, leaves what is slow, and restarts elsewhere") {
  StruckCluster cluster = slow_training(5);
  cluster.failures.outages = {slow_outage(1, 90'000, 3, 4, 3000)};
  cluster.failures.mitigation.microbatches = Time::nanoseconds(40);
  cluster.failures.mitigation.restart = Time::nanoseconds(140);
  cluster.costs = {Time::nanoseconds(10), Time{}, Time{}};
  cluster.costs.iterations = 1'000;
  // From 101 on a sixth of the time is lost: the other 100 at 701. Four iterations of 127 have ended at 609.
  const RunResult result = cluster.run_both_ways();
  CHECK(result.jobs[0].finish.ns() == 701 + 10 + 16 * 107);
  CHECK(result.jobs[0].interruptions == 1);
  CHECK(result.jobs[0].redone.ns() == 61 + 92);
  CHECK(result.jobs[0].overhead.ns() == 40 + 10);
  CHECK(result.gpus[3].down.ns() == result.end.ns() - 701);
  // The state that it saves takes as long as a checkpoint.
  cluster.costs.checkpoint = Time::nanoseconds(7);
  CHECK(cluster.run_both_ways().jobs[0].finish.ns() == 701 + 10 + 7 + 16 * 107);
  cluster.costs.checkpoint = Time{};
  // Without the first step it loses 140 until 211 and has done nothing yet: its tasks end at 299.
  cluster.failures.mitigation.microbatches.reset();
  CHECK(cluster.run_both_ways().jobs[0].finish.ns() == 211 + 10 + 20 * 107);
}

TEST_CASE("a job restarts only where it finds other GPUs, and at the instant at which it does") {
  StruckCluster cluster = slow_training(4);
  cluster.failures.outages = {slow_outage(1, 90'000, 3, 4, 3000)};
  cluster.failures.mitigation.restart = Time::nanoseconds(100);
  const auto alone = [] {
    StruckCluster slow = slow_training(4);
    slow.failures.outages = {slow_outage(1, 90'000, 3, 4, 3000)};
    return slow.run_both_ways();
  };
  // There is nowhere to go: it goes on as without the step.
  const RunResult stays = cluster.run_both_ways();
  CHECK(stays.jobs[0].finish == alone().jobs[0].finish);
  CHECK(stays.jobs[0].interruptions == 0);

  // Another job has the fifth server until 1,000 ns. 2 of 3 ns are lost from 1 on, so that the job would have gone at
  // 151. An iteration takes 307, and 3 have ended at 1,000 but for what was fast at first: 1 ns of computing is
  // worth 3.
  cluster.servers = 5;
  JobSpec other;
  other.graph = 1;
  cluster.graphs.emplace_back("role v 1 | compute z v 1000");
  cluster.jobs.insert(cluster.jobs.begin(), other);
  cluster.failures.outages = {slow_outage(1, 90'000, 4, 5, 3000)};
  const RunResult goes = cluster.run_both_ways();
  CHECK(goes.jobs[0].finish.ns() == 1'000);
  CHECK(goes.jobs[1].interruptions == 1);
  CHECK(goes.jobs[1].finish.ns() == 1'000 + 17 * 107);
  CHECK(goes.jobs[1].redone.ns() == 1'000 - (3 * 307 - 2));

  // A job that waits in the queue goes first: the place is gone, and there is no other.
  cluster.jobs.push_back(other);
  cluster.jobs[2].submit = Time::nanoseconds(500);
  cluster.jobs[2].iterations = 80;
  const RunResult late = cluster.run_both_ways();
  CHECK(late.jobs[2].start.ns() == 1'000);
  CHECK(late.jobs[1].interruptions == 0);
}

TEST_CASE("a step that can't help is passed over") {
  // All replicas are the stage of one: there is nobody to move micro-batches to.
  StruckCluster cluster = slow_training(5);
  cluster.jobs[0].layout.replica = 4;
  cluster.failures.outages = {slow_outage(1, 90'000, 3, 4, 3000)};
  cluster.failures.mitigation.microbatches = Time::nanoseconds(40);
  cluster.failures.mitigation.topology = Time::nanoseconds(50);
  cluster.failures.mitigation.restart = Time::nanoseconds(140);
  CHECK(cluster.run_both_ways().jobs[0].finish.ns() == 211 + 20 * 107);
}

TEST_CASE("a job that starts on what is slow has lost nothing yet") {
  StruckCluster cluster = slow_training(4);
  cluster.jobs[0].submit = Time::nanoseconds(1'000);
  cluster.failures.outages = {slow_outage(1, 90'000, 3, 4, 3000)};
  cluster.failures.mitigation.microbatches = Time::nanoseconds(40);
  CHECK(cluster.run_both_ways().jobs[0].finish.ns() == 1'000 + 60 + 40 + 20 * 127);
  // The next one on these GPUs begins with equal shares.
  cluster.jobs.push_back(cluster.jobs[0]);
  CHECK(cluster.run_both_ways().jobs[1].finish.ns() == 1'000 + 2 * (60 + 40 + 20 * 127));
}

TEST_CASE("replicas of pipelines share out by their slowest rank") {
  // Two stages of two replicas; GPU 1 is slow, the second replica of the first stage, and 3 is in its pipeline.
  StruckCluster cluster = slow_training(4);
  cluster.jobs[0].layout.stage = 2;
  cluster.failures.outages = {slow_outage(1, 90'000, 1, 2, 3000)};
  cluster.failures.mitigation.microbatches = Time::nanoseconds(40);
  // Speeds of 1 and 1/3 share two parts as 1.5 and 0.5.
  const RunResult result = cluster.run_both_ways();
  CHECK(result.jobs[0].finish.ns() == 101 + 20 * 157);
  CHECK(result.gpus[3].busy.ns() == 61 + 20 * 50);
}

TEST_CASE("mitigation that can't be meant is refused with the reason") {
  StruckCluster cluster = slow_training(4);
  cluster.failures.mitigation.restart = Time::nanoseconds(40);
  CHECK(cluster.refusal().find("nothing slows components down") != std::string::npos);
  cluster.failures.outages = {slow_outage(1, 90'000, 1, 2, 3000)};
  cluster.failures.mitigation.topology = Time::nanoseconds(40);
  CHECK(cluster.refusal().find("costs more than the one before") != std::string::npos);
  cluster.failures.mitigation.topology = Time::nanoseconds(4);
  cluster.failures.mitigation.left = 1.5;
  CHECK(cluster.refusal().find("is a share, 0 to 1") != std::string::npos);
}
