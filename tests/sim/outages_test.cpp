// Tests failures: what an interrupted job loses, when it comes back and where; spares; streams; sums to the nanosecond.

#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "sim/statistics.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/sim/struck_cluster.hpp"

#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

TEST_CASE("a job goes on from its last checkpoint after a failure") {
  // An hour of work, a checkpoint each 10 minutes, 1 minute to restart. The server fails after 25 minutes; the other
  // one takes the job: 5 minutes are lost, and it ends after 25 + 1 + 40 minutes.
  StruckCluster one{.servers = 2, .jobs = {timed_ns(0, 60 * kMinute)}};
  one.costs = {Time::seconds(60), Time::seconds(600), Time{}};
  one.failures.outages = {outage(25 * kMinute, 90 * kMinute, 0, 1)};
  const RunResult result = one.run();
  const JobResult& job = result.jobs[0];
  CHECK(job.finish.ns() == 66 * kMinute);
  CHECK(job.lost_to_failures.ns() == 5 * kMinute);
  CHECK(job.redone.ns() == 5 * kMinute);
  CHECK(job.restarting.ns() == kMinute);
  CHECK(job.interruptions == 1);
  CHECK(job.preemptions == 0);
  CHECK(result.failures == 1);
  CHECK(result.gpus[0].down.ns() == (66 - 25) * kMinute);
  check_sums(result);
}

TEST_CASE("a failure during a checkpoint falls back to the one before") {
  // Checkpoints take 2 minutes, so the second is saved from minute 22 to 24. What counts is the one of minute 12.
  StruckCluster one{.servers = 2, .jobs = {timed_ns(0, 60 * kMinute)}};
  one.costs = {Time::seconds(60), Time::seconds(600), Time::seconds(120)};
  one.failures.outages = {outage(23 * kMinute, 90 * kMinute, 0, 1)};
  const RunResult result = one.run();
  CHECK(result.jobs[0].finish.ns() == (23 + 1 + 50 + 4 * 2) * kMinute);
  CHECK(result.jobs[0].lost.ns() == 10 * kMinute);
  CHECK(result.jobs[0].overhead.ns() == (2 + 1 + 1 + 4 * 2) * kMinute);
  check_sums(result);
}

TEST_CASE("a checkpoint counts once it is durable") {
  // No stall, but 3 minutes in the background: the second checkpoint is durable at minute 23.
  StruckCluster one{.servers = 2, .jobs = {timed_ns(0, 60 * kMinute)}};
  one.costs = {Time{}, Time::seconds(600), Time{}, Time::seconds(180)};
  for (const std::int64_t at : {22, 23}) {
    one.failures.outages = {outage(at * kMinute, 90 * kMinute, 0, 1)};
    const RunResult result = one.run();
    CHECK(result.jobs[0].lost.ns() == (at == 22 ? 12 : 3) * kMinute);
    check_sums(result);
  }
}

TEST_CASE("work that is never saved is lost as a whole, and a rescue saves all of it at a price") {
  StruckCluster one{.servers = 2, .jobs = {timed_ns(0, 60 * kMinute)}};
  one.failures.outages = {outage(25 * kMinute, 90 * kMinute, 0, 1)};
  one.costs = {Time{}, kNeverSaved, Time{}};
  CHECK(one.run().jobs[0].finish.ns() == 85 * kMinute);
  one.costs = {Time::seconds(60), Time{}, Time{}, Time{}, Time::seconds(30)};
  CHECK(one.run().jobs[0].finish.ns() == 61 * kMinute + kMinute / 2);
}

TEST_CASE("a failure during the restart begins it again") {
  StruckCluster one{.servers = 3, .jobs = {timed_ns(0, 60 * kMinute)}};
  one.costs = {Time::seconds(60), Time::seconds(600), Time{}};
  one.failures.outages = {outage(25 * kMinute, 90 * kMinute, 0, 1),
                          outage(25 * kMinute + kMinute / 2, 90 * kMinute, 1, 2)};
  const RunResult result = one.run();
  CHECK(result.jobs[0].finish.ns() == 66 * kMinute + kMinute / 2);
  CHECK(result.jobs[0].restarting.ns() == kMinute + kMinute / 2);
  CHECK(result.jobs[0].interruptions == 2);
  check_sums(result);
}

TEST_CASE("a planned outage: servers are drained, what still runs goes at once, and nothing counts as a failure") {
  // Both GPUs are drained from 10 on and go at 20. One job runs until then, one ends at 12, and one comes at 13.
  StruckCluster two{.servers = 2, .jobs = {timed_ns(0, 30), timed_ns(0, 12), timed_ns(13, 3)}};
  two.failures.outages = {outage(20, 40, 0, 2)};
  two.failures.detection = Time::nanoseconds(5);
  two.failures.retries = 0;
  two.failures.outages[0].drain = Time::nanoseconds(10);
  const RunResult planned = two.run();
  CHECK(planned.jobs[0].finish.ns() == 50);
  CHECK(planned.jobs[0].interruptions == 1);
  CHECK(planned.jobs[0].away.ns() == 0);
  CHECK(planned.jobs[1].finish.ns() == 12);
  CHECK(planned.jobs[2].start.ns() == 40);
  CHECK(planned.failures == 0);
  CHECK(planned.gpus[0].down.ns() == 40 - 20);
  CHECK(planned.gpus[1].down.ns() == 40 - 12);
  check_sums(planned);

  // Draining that begins with the outage withholds nothing: the last job runs from 13 to 16.
  two.failures.outages[0].drain = Time::nanoseconds(20);
  CHECK(two.run().jobs[2].start.ns() == 13);
  CHECK(two.run().jobs[0].finish.ns() == 50);
  // The same outage without a plan is a failure, found after 5 ns; with no retries the job ends.
  two.failures.outages[0].drain.reset();
  const RunResult struck = two.run();
  CHECK(struck.failures == 1);
  CHECK(struck.jobs[0].state == JobState::given_up);
  CHECK(struck.jobs[2].start.ns() == 13);
  // Where a component fails at the instant of the plan, the job has failed.
  two.failures.retries.reset();
  two.failures.outages = {outage(20, 40, 0, 2), outage(20, 30, 0, 1)};
  two.failures.outages[0].drain = Time::nanoseconds(10);
  const RunResult both = two.run();
  CHECK(both.jobs[0].away.ns() == 5);
  CHECK(both.failures == 1);
  // A failure while a GPU is drained, and two plans for the same one, end each by itself.
  two.jobs = {timed_ns(0, 5), timed_ns(11, 1)};
  two.failures.detection = Time{};
  two.failures.outages = {outage(20, 40, 0, 2), outage(12, 50, 0, 1), outage(30, 60, 1, 2)};
  two.failures.outages[0].drain = two.failures.outages[2].drain = Time::nanoseconds(10);
  const RunResult overlapping = two.run();
  CHECK(overlapping.jobs[1].start.ns() == 50);
  CHECK(overlapping.gpus[0].down.ns() == 50 - 10);
}

TEST_CASE("a planned outage doesn't count for the retries after failures, nor for what failures undid") {
  // 60 minutes of work, a checkpoint each 10. Maintenance takes server 0 at 25, a failure server 1 at 33, and another
  // one server 2 at 47. One retry: the job comes back after the first failure and not after the second.
  StruckCluster three{.servers = 4, .jobs = {timed_ns(0, 60 * kMinute)}};
  three.costs = {Time{}, Time::seconds(600), Time{}};
  three.failures.retries = 1;
  three.failures.outages = {outage(25 * kMinute, 90 * kMinute, 0, 1), outage(33 * kMinute, 90 * kMinute, 1, 2)};
  three.failures.outages[0].drain = Time::seconds(1200);
  const RunResult once = three.run();
  CHECK(once.jobs[0].outcome == JobOutcome::completed);
  CHECK(once.jobs[0].finish.ns() == (60 + 5 + 8) * kMinute);
  CHECK(once.jobs[0].interruptions == 2);
  CHECK(once.jobs[0].lost.ns() == 13 * kMinute);
  CHECK(once.jobs[0].lost_to_failures.ns() == 8 * kMinute);
  check_sums(once);

  three.failures.outages.push_back(outage(47 * kMinute, 90 * kMinute, 2, 3));
  const RunResult twice = three.run();
  CHECK(twice.jobs[0].outcome == JobOutcome::failed);
  CHECK(twice.jobs[0].finish.ns() == 47 * kMinute);
  CHECK(twice.jobs[0].reason == "failures interrupted it 2 times, and failures.retries lets it start again 1 time");
}

TEST_CASE("a GPU that is drained is withheld at the instant at which a preemption frees it") {
  // The second GPU is drained from 10 on. At 15 a shorter job of one GPU takes the first one, and nobody has the
  // second.
  StruckCluster one{.gpus_per_server = 2, .jobs = {timed_ns(0, 50), timed_ns(15, 20)}, .shortest_first = true};
  one.preemptive = true;
  one.jobs[0].gpus = 2;
  one.failures.outages = {outage(1000, 1100, 1, 2)};
  one.failures.outages[0].drain = Time::nanoseconds(10);
  const RunResult result = one.run();
  CHECK(result.jobs[1].start.ns() == 15);
  CHECK(result.jobs[0].preemptions == 1);
  CHECK(result.jobs[0].finish.ns() == 1100 + 35);
  CHECK(result.gpus[1].down.ns() == 1100 - 15);
}

TEST_CASE("without a spare the whole gang waits for the repair, and others use its GPUs or not") {
  // The job on 16 servers fails at 10 and is found out at 13; its server is back at 40. A small job waits since 1.
  StruckCluster gang{.servers = 16, .jobs = {timed_ns(0, 20, 16), timed_ns(1, 5)}};
  gang.failures.outages = {outage(10, 40, 7, 8)};
  gang.failures.detection = Time::nanoseconds(2);
  gang.failures.diagnosis = Time::nanoseconds(1);
  for (const bool holds : {true, false}) {
    gang.failures.holds_gpus = holds;
    const RunResult result = gang.run();
    CHECK(result.jobs[1].start.ns() == (holds ? 13 : 10));
    CHECK(result.jobs[0].finish.ns() == 50);
    CHECK(result.jobs[0].away.ns() == 3);
    CHECK(result.jobs[0].waited.ns() == 27);
    check_sums(result);
  }
}

TEST_CASE("two failures at one instant interrupt a job once") {
  StruckCluster gang{.servers = 4, .jobs = {timed_ns(0, 20, 2)}};
  gang.failures.outages = {outage(10, 40, 0, 1), outage(10, 40, 1, 2)};
  const RunResult result = gang.run();
  CHECK(result.jobs[0].interruptions == 1);
  CHECK(result.jobs[0].finish.ns() == 20);
  CHECK(result.failures == 2);
}

TEST_CASE("work that ends at the instant of a failure has ended") {
  StruckCluster one{.jobs = {timed_ns(0, 10), timed_ns(0, 5)}};
  one.failures.outages = {outage(10, 12, 0, 1)};
  const RunResult result = one.run();
  CHECK(result.jobs[0].finish.ns() == 10);
  CHECK(result.jobs[0].interruptions == 0);
  CHECK(result.jobs[1].start.ns() == 12);
}

TEST_CASE("a GPU that fails takes its server with it if it is drained") {
  StruckCluster one{.servers = 2, .gpus_per_server = 2, .jobs = {timed_ns(0, 20, 2), timed_ns(0, 20, 2)}};
  one.failures.components = {
      {"gpu", 1, false, DurationLaw::constant(Time::nanoseconds(1'000)), DurationLaw::constant(Time::nanoseconds(7))}};
  one.failures.outages = {outage(10, 30, 0, 1)};
  RunResult result = one.run();
  CHECK(result.jobs[0].finish.ns() == 30);  // GPU 1 still works, and the other job has the rest until 20
  one.failures.outages.clear();
  one.failures.components[0].failure = DurationLaw::constant(Time::nanoseconds(15));
  one.failures.components[0].drains = true;
  one.jobs = {timed_ns(0, 10, 2), timed_ns(0, 10, 2), timed_ns(0, 10, 4)};
  result = one.run();
  // All four fail at 15 and come back at 22.
  CHECK(result.jobs[2].start.ns() == 10);
  CHECK(result.jobs[2].finish.ns() == 22 + 5);
  CHECK(result.failures == 4);
  CHECK(result.gpus[0].down.ns() == 7);
}

TEST_CASE("a spare takes the place of a server that fails, at once or after a while") {
  StruckCluster one{.servers = 3, .jobs = {timed_ns(0, 20, 2), timed_ns(0, 20, 2)}};
  one.failures.spares = 1;
  CHECK(one.run().jobs[1].start.ns() == 20);  // the spare is not for it
  one.failures.outages = {outage(10, 15, 0, 1)};
  CHECK(one.run().jobs[0].finish.ns() == 20);
  one.failures.spare_delay = Time::nanoseconds(3);
  RunResult result = one.run();
  CHECK(result.jobs[0].finish.ns() == 23);
  CHECK(result.jobs[1].start.ns() == 23);  // server 0 has become the spare
  CHECK(result.gpus[0].down.ns() == result.end.ns() - 10);
  CHECK(result.gpus[2].down.ns() == 13);
  // Back at 12, before the spare has started, the server keeps its place, and the spare is one again at 13.
  one.failures.outages = {outage(10, 12, 0, 1)};
  result = one.run();
  CHECK(result.jobs[0].finish.ns() == 22);
  CHECK(result.gpus[0].down.ns() == 2);
  CHECK(result.gpus[2].down.ns() == result.end.ns());
  one.failures.outages.push_back(outage(12, 30, 1, 2));  // for which it comes at 13
  result = one.run();
  CHECK(result.gpus[2].down.ns() == 13);
  // The spare fails first, so there is none until it is back.
  one.failures.spare_delay = Time{};
  one.failures.outages = {outage(10, 17, 0, 1), outage(5, 14, 2, 3)};
  result = one.run();
  CHECK(result.jobs[0].finish.ns() == 24);
  one.jobs[0].gpus = 3;
  result = one.run();
  CHECK(result.jobs[0].state == JobState::failed);
  CHECK(result.jobs[0].reason == "needs 3 GPUs, the servers that aren't spares have 2");
  std::swap(one.failures.spares, one.failures.cold_spares);
  CHECK(one.run().jobs[0].reason == "needs 3 GPUs, the servers that aren't spares have 2");
}

TEST_CASE("a spare stands in for servers of its owner, and for no other") {
  // Servers 0 and 1 are the first virtual cluster's; nobody or the second one owns servers 2 to 4, of which 4 is the
  // spare.
  StruckCluster one{.servers = 5, .jobs = {timed_ns(0, 20, 2), timed_ns(0, 20, 2)}};
  one.failures.spares = 1;
  one.jobs[0].vc = 0;
  for (const bool is_owned : {false, true}) {
    one.vcs = {{.servers = {0, 2}}};
    if (is_owned) one.vcs.push_back({.servers = {2, 5}});
    one.jobs[1].vc = is_owned ? 1 : -1;
    one.failures.outages = {outage(10, 15, 0, 1)};
    RunResult result = one.run_both_ways();
    CHECK(result.jobs[0].finish.ns() == 25);
    CHECK(result.jobs[1].finish.ns() == 20);
    CHECK(result.gpus[4].down == result.end);
    one.failures.outages = {outage(10, 15, 2, 3)};
    result = one.run_both_ways();
    CHECK(result.jobs[0].finish.ns() == 20);
    CHECK(result.jobs[1].finish.ns() == 20);
    CHECK(result.gpus[4].down.ns() == 10);
    // Both at once: the spare goes to its owner, and server 2 becomes the spare when it is back.
    one.failures.outages = {outage(10, 15, 0, 1), outage(10, 15, 2, 3)};
    result = one.run_both_ways();
    CHECK(result.jobs[0].finish.ns() == 25);
    CHECK(result.jobs[1].finish.ns() == 20);
    CHECK(result.gpus[2].down == result.end - Time::nanoseconds(10));
    // Three GPUs are there, of which two are no spares.
    one.jobs[1].gpus = 3;
    CHECK(one.run().jobs[1].state == JobState::failed);
    one.jobs[1].gpus = 2;
  }
  one.failures.spares = 3;
  CHECK_THROWS_AS(static_cast<void>(one.run()), InputError);
}

TEST_CASE("a server that comes back with a job on its other GPUs becomes a spare when the job has left") {
  // GPU 0 fails from 10 to 20. Server 2 takes the place of server 0, on whose other GPU job 1 goes on until 40.
  StruckCluster one{.servers = 3, .gpus_per_server = 2, .jobs = {timed_ns(0, 100, 1), timed_ns(0, 40, 1)}};
  one.failures.spares = 1;
  one.failures.spare_delay = Time::nanoseconds(3);
  one.failures.outages = {outage(10, 20, 0, 1)};
  one.jobs.push_back(timed_ns(25, 10, 3));  // on what is left of servers 1 and 2: not on GPU 0
  RunResult result = one.run_both_ways();
  CHECK(result.jobs[2].start.ns() == 25);
  CHECK(result.gpus[0].down.ns() == result.end.ns() - 10);
  CHECK(result.gpus[1].down.ns() == result.end.ns() - 40);
  // Then it takes the place of server 1.
  one.failures.outages.push_back(outage(50, 200, 2, 4));
  result = one.run_both_ways();
  CHECK(result.gpus[0].down.ns() == 43);
  CHECK(result.gpus[1].down.ns() == 13);
  CHECK(result.gpus[2].down.ns() == result.end.ns() - 50);
  // A failure before job 1 has left needs no spare: server 0 stays in service.
  one.failures.outages.back() = outage(30, 200, 2, 4);
  result = one.run_both_ways();
  CHECK(result.gpus[0].down.ns() == 20);
  CHECK(result.gpus[1].down.ns() == 0);
  // Nor does one that takes the server itself: what was withheld is down with the rest, and server 1 stays.
  one.failures.outages.back() = outage(30, 35, 0, 2);
  result = one.run_both_ways();
  CHECK(result.gpus[0].down.ns() == result.end.ns() - 10);
  CHECK(result.gpus[1].down.ns() == result.end.ns() - 30);
  CHECK(result.gpus[2].down.ns() == 0);
  CHECK(result.gpus[4].down.ns() == 13);
}

TEST_CASE("a job that is interrupted too often is given up") {
  StruckCluster one{.servers = 4, .jobs = {timed_ns(0, 100)}};
  one.costs = {Time{}, kNeverSaved, Time{}};
  one.failures.of_jobs = DurationLaw::constant(Time::nanoseconds(30));
  one.failures.retries = 2;
  const RunResult result = one.run();
  CHECK(result.jobs[0].finish.ns() == 90);
  CHECK(result.jobs[0].state == JobState::given_up);
  CHECK_FALSE(result.jobs[0].rho.has_value());
  CHECK(result.jobs[0].interruptions == 3);
  CHECK(summarise(result).given_up == 1);
  CHECK(std::isnan(summarise(result).avg_jct_s));
  CHECK(result.jobs[0].reason == "failures interrupted it 3 times, and failures.retries lets it start again 2 times");
  // It ends when the last failure is noticed, 7 ns later, without diagnosis, and until then it keeps its other GPU.
  one.servers = 2;
  one.jobs[0].gpus = 2;
  one.failures.of_jobs.reset();
  one.failures.outages = {outage(30, 31, 0, 1), outage(120, 900, 0, 1)};
  one.failures.retries = 1;
  one.failures.detection = Time::nanoseconds(7);
  one.failures.diagnosis = Time::nanoseconds(50);
  one.jobs.push_back(timed_ns(100, 5));
  const RunResult noticed = one.run_both_ways();
  CHECK(noticed.jobs[0].finish.ns() == 120 + 7);
  CHECK(noticed.jobs[0].away.ns() == 57 + 7);
  CHECK(noticed.jobs[0].undetected.ns() == 14);
  CHECK(noticed.jobs[1].start.ns() == 120 + 7);
  one.failures.of_jobs = DurationLaw::constant(Time::nanoseconds(30));
  one.failures.outages.clear();
  one.jobs.pop_back();
  one.failures.retries.reset();
  CHECK_THROWS_AS(static_cast<void>(one.run()), InputError);  // it would never end
}

TEST_CASE("a preemption for a job that comes back after a failure is of second order") {
  // The short job fails at 5, comes back when its GPU is repaired at 6, and pushes out the long one, which had the
  // other GPU from 1 on and has saved nothing.
  StruckCluster two{
      .servers = 2, .jobs = {timed_ns(0, 20), timed_ns(1, 100)}, .shortest_first = true, .preemptive = true};
  two.jobs[0].gpus = 2;
  two.jobs[0].submit = Time::nanoseconds(3);
  two.jobs[1].submit = Time{};
  two.costs = {Time{}, kNeverSaved, Time{}};
  two.failures.outages = {outage(5, 6, 0, 1)};
  const RunResult result = two.run_both_ways();
  CHECK(result.jobs[1].preemptions == 2);  // the first one made room before the failure
  CHECK(result.jobs[1].second_order_preemptions == 1);
  CHECK(result.jobs[1].lost.ns() == 3 + 1);
  CHECK(result.jobs[1].lost_to_second_order.ns() == 1);
  const Summary summary = summarise(result);
  CHECK(summary.second_order_preemptions == near(1));
  CHECK(summary.goodput == near((2.0 * 20 + 100) / (2 * 126)));
}

TEST_CASE("jobs that share a GPU divide its time in goodput") {
  // Both compute on both GPUs all the time, in turns; the third GPU is out of service at the end of the run.
  JobSpec job;
  job.gpus = 2;
  job.iterations = 10;
  StruckCluster cluster{.servers = 1,
                        .gpus_per_server = 2,
                        .jobs = {job, job},
                        .graphs = {"role w 2 | compute x w 10 | all-reduce g w 0 | x -> g | g => x"}};
  cluster.failures.outages = {outage(1'000'000, 1'000'001, 0, 1)};
  const RunResult result = cluster.run_both_ways();
  const Summary summary = summarise(result);
  CHECK(result.jobs[0].held.ns() + result.jobs[1].held.ns() > result.end.ns());
  CHECK(summary.goodput == near(1));
}

TEST_CASE("the clock of a job's own failures runs while it runs") {
  // It runs 0-10 of 25, is preempted by nothing, fails at 10 and 20 of its running time, saved continuously.
  StruckCluster one{.jobs = {timed_ns(0, 25), timed_ns(2, 4)}};
  one.failures.of_jobs = DurationLaw::constant(Time::nanoseconds(10));
  one.failures.requeues_last = true;
  const RunResult result = one.run();
  CHECK(result.jobs[1].start.ns() == 10);
  CHECK(result.jobs[0].finish.ns() == 29);
  CHECK(result.jobs[0].interruptions == 2);
  check_sums(result);
}

TEST_CASE("a job of iterations returns to its last checkpoint, and to its last iteration without") {
  // 10 ns an iteration; the server fails at 57, in iteration 5. With a checkpoint each 4: 17 ns are done again.
  StruckCluster one{.servers = 2, .jobs = {JobSpec{}}, .graphs = {"role worker 1 | compute step worker 10"}};
  one.jobs[0].iterations = 10;
  one.jobs[0].memory_per_gpu = Bytes{1};
  one.failures.outages = {outage(57, 1'000, 0, 1)};
  one.costs.restart = Time::nanoseconds(5);
  const auto run = [&](std::int64_t every, Time persist) {
    one.costs.iterations = every;
    one.costs.persist = persist;
    one.costs.checkpoint_interval = persist;
    one.leap = true;
    const RunResult fast = one.run();
    one.leap = false;
    CHECK(difference(one.run(), fast) == "");
    const JobResult& job = fast.jobs[0];
    CHECK(GpuTime{job.held, 1} == job.compute + GpuTime{job.redone + job.overhead, 1});
    CHECK(job.lost == GpuTime{job.redone, 1});
    return job;
  };
  CHECK(run(1, Time{}).finish.ns() == 57 + 5 + 50);
  CHECK(run(4, Time{}).finish.ns() == 57 + 5 + 60);
  CHECK(run(4, Time{}).redone.ns() == 17);
  CHECK(run(4, Time::nanoseconds(18)).redone.ns() == 57);  // not durable yet
  CHECK(run(4, Time::nanoseconds(17)).redone.ns() == 17);
  CHECK(run(kNoIterationSaved, Time{}).finish.ns() == 57 + 5 + 100);
}

TEST_CASE("a failure leaves the other jobs on other GPUs alone, and a rate of 0 changes nothing") {
  StruckCluster two{.servers = 2,
                    .gpus_per_server = 2,
                    .jobs = {JobSpec{}, JobSpec{}, timed_ns(3, 40)},
                    .graphs = {"role worker 1 | compute step worker 10"}};
  for (JobSpec* job : {&two.jobs[0], &two.jobs[1]}) {
    job->iterations = 1'000;
    job->memory_per_gpu = Bytes{60};
  }
  const RunResult without = two.run();
  two.failures.detection = Time::seconds(1);
  two.failures.retries = 0;
  const RunResult same = two.run();
  CHECK(same.digest == without.digest);
  CHECK(same.fingerprint == without.fingerprint);
  two.failures.retries.reset();
  two.failures.outages = {outage(55, 2'000, 0, 1)};
  const RunResult struck = two.run();
  CHECK(struck.jobs[0].interruptions == 1);
  CHECK(struck.jobs[1].finish == without.jobs[1].finish);
}

TEST_CASE("components fail at the same times under another policy, and another seed gives others") {
  StruckCluster many{.servers = 4, .gpus_per_server = 2, .jobs = {}};
  RandomStream random{7, "jobs"};
  for (int j = 0; j < 60; ++j)
    many.jobs.push_back(timed_ns(random.uniform_integer(0, 500), random.uniform_integer(1, 300),
                                 static_cast<int>(random.uniform_integer(1, 8))));
  many.failures.components = {{"server", 2, false, DurationLaw::exponential(Time::nanoseconds(400)),
                               DurationLaw::lognormal(Time::nanoseconds(40), 1)},
                              {"gpu", 1, false, DurationLaw::weibull(Time::nanoseconds(900), 0.7),
                               DurationLaw::constant(Time::nanoseconds(20))}};
  many.jobs.push_back(timed_ns(20'000, 1));  // both runs end with it
  const auto downs = [](const RunResult& result) {
    std::vector<std::int64_t> times;
    for (const GpuResult& gpu : result.gpus) times.push_back(gpu.down.ns());
    return times;
  };
  const RunResult fifo = many.run();
  many.shortest_first = true;
  const RunResult shortest = many.run();
  CHECK(fifo.digest != shortest.digest);
  REQUIRE(fifo.end == shortest.end);
  CHECK(fifo.failures == shortest.failures);
  CHECK(fifo.failures > 200);
  CHECK(downs(fifo) == downs(shortest));
  check_sums(fifo);
  check_sums(shortest);
  many.failures.seed = 2;
  CHECK(downs(many.run()) != downs(shortest));
}

TEST_CASE("the time of an interrupted job is what Daly's formula expects") {
  // 40 jobs, each alone on its GPU, of 400 periods: about 10,000 failures.
  constexpr double kMean = 3600, kRestart = 60, kPeriod = 400, kCost = 20;
  const int periods = effort(400);
  StruckCluster many{.servers = 40, .jobs = {}};
  for (int j = 0; j < 40; ++j) many.jobs.push_back(timed_ns(0, static_cast<std::int64_t>(kPeriod * 1e9) * periods));
  many.costs = {Time::seconds(60), Time::seconds(400), Time::seconds(20)};
  many.failures.of_jobs = DurationLaw::exponential(Time::seconds(3600));
  std::vector<double> times;
  const RunResult result = many.run();
  check_sums(result);
  for (const JobResult& job : result.jobs) times.push_back(job.jct().to_seconds());
  // Each period with its checkpoint, and the last without.
  const auto part = [&](double length) { return kMean * std::exp(kRestart / kMean) * std::expm1(length / kMean); };
  const double expected = part(kPeriod + kCost) * (periods - 1) + part(kPeriod);
  const double error = sample_deviation(times) / std::sqrt(static_cast<double>(times.size()));
  CHECK(mean(times) == near_absolute(expected, 3 * error));
  CHECK(error < expected / 20);
}

TEST_CASE("failures that no cluster can have are refused") {
  StruckCluster one{.servers = 2, .jobs = {timed_ns(0, 1)}};
  const auto refused = [&](const std::function<void(FailureSpec&)>& change) {
    one.failures = {};
    change(one.failures);
    try {
      static_cast<void>(one.run());
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(refused([](FailureSpec& f) { f.spares = 2; }).find("2 of 2 servers can't be spares") != std::string::npos);
  CHECK(refused([](FailureSpec& f) { f.outages = {outage(5, 5, 0, 1)}; }) != "");
  CHECK(refused([](FailureSpec& f) { f.outages = {outage(5, 6, 1, 3)}; }) != "");
  CHECK(refused([](FailureSpec& f) {
          f.outages = {outage(5, 6, 0, 1)};
          f.outages[0].drain = Time::nanoseconds(6);
        }) != "");
  CHECK(refused([](FailureSpec& f) { f.detection = Time::nanoseconds(-1); }) != "");
  one.costs = {Time{}, Time::seconds(5), Time{}, Time::seconds(6)};
  CHECK(refused([](FailureSpec&) {}).find("longer to become durable") != std::string::npos);
}

TEST_CASE("laws of durations have their means") {
  const int draws = effort(200'000);
  const auto average = [&](const DurationLaw& law) {
    RandomStream stream{3, "law"};
    double sum = 0;
    for (int i = 0; i < draws; ++i) sum += law.draw(stream).to_seconds();
    return sum / draws;
  };
  CHECK(average(DurationLaw::exponential(Time::seconds(10))) == near(10, 0.03));
  CHECK(average(DurationLaw::weibull(Time::seconds(10), 0.7)) == near(10, 0.04));
  CHECK(average(DurationLaw::weibull(Time::seconds(10), 3)) == near(10, 0.02));
  CHECK(average(DurationLaw::lognormal(Time::seconds(10), 1)) == near(10, 0.06));
  CHECK(average(DurationLaw::constant(Time::seconds(10))) == near(10));
}

TEST_CASE("no leap passes the end of a measured run, which a failure may bring") {
  // Job 0, which alone is measured, ends for good at 100 ns and not after 50,000 ns. Job 1 has done 9 iterations by
  // then.
  StruckCluster one{.servers = 2, .jobs = {}};
  one.graphs = {"role w 1 | compute f w 10"};
  for (const std::int64_t submit : {0, 5}) {
    JobSpec job;
    job.submit = Time::nanoseconds(submit);
    job.iterations = 5'000;
    job.gpu_share = kWholeGpu;
    one.jobs.push_back(job);
  }
  one.window = {Time{}, Time::nanoseconds(1)};
  one.failures.retries = 0;
  one.failures.outages = {outage(100, 200, 0, 1)};
  const RunResult result = one.run_both_ways();
  CHECK(result.end.ns() == 100);
  CHECK(result.jobs[1].iterations_done == 9);
}

TEST_CASE("domains of two kinds that overlap in part are remarked on, and those that nest aren't") {
  StruckCluster one{.servers = 12, .gpus_per_server = 2, .jobs = {timed_ns(0, 10)}};
  const DurationLaw late = DurationLaw::constant(Time::nanoseconds(1'000));
  one.failures.components = {{"power", 12, false, late, late}, {"rack", 8, false, late, late}};
  const RunResult result = one.run();
  REQUIRE(result.remarks.size() == 1);
  CHECK(result.remarks[0] ==
        "failures: domains of `rack` have 4 servers and those of `power` 6, each from the first server on, so that one "
        "of `rack` may lie in two of `power`");
  one.failures.components[0].gpus = 16;
  CHECK(one.run().remarks.empty());
  one.failures.components[0].gpus = 24;  // all of the cluster
  CHECK(one.run().remarks.empty());
  one.failures.components = {
      {"server", 2, false, late, late}, {"gpu", 1, false, late, late}, {"rack", 6, false, late, late}};
  CHECK(one.run().remarks.empty());
}
