// Tests when failures are noticed, by whom, and which spares take the places of servers that failed.

#include "tests/near.hpp"
#include "tests/sim/struck_cluster.hpp"

#include <cstdint>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

TEST_CASE("who finds a failure decides when the job comes back") {
  // The job starts at minute 0 on one of two servers, which fails after 25 minutes and 7 s. Heartbeats come each 10 s,
  // the last one at 25:00, and the third after that is missed at 25:30. So that the time away is 23 s.
  StruckCluster one{.servers = 2, .jobs = {timed_ns(0, 60 * kMinute)}};
  one.failures.outages = {outage(25 * kMinute + 7 * kSecond, 90 * kMinute, 0, 1)};
  one.failures.detection = Time::seconds(600);
  one.failures.diagnosis = Time::seconds(5);
  one.failures.detectors.exit_code = Time::seconds(1);
  const auto away = [&one](FoundBy by) {
    one.failures.outages[0].found_by = by;
    const RunResult result = one.run();
    check_sums(result);
    CHECK(result.jobs[0].away == result.jobs[0].undetected + Time::seconds(5));
    return result.jobs[0].undetected.ns();
  };
  CHECK(away(FoundBy::delay) == 600 * kSecond);
  CHECK(away(FoundBy::exit_code) == kSecond);
  CHECK(away(FoundBy::heartbeat) == 23 * kSecond);
  CHECK(away(FoundBy::timeout) == 1800 * kSecond);
  one.failures.detectors.timeout = Time::seconds(60);
  CHECK(away(FoundBy::timeout) == 60 * kSecond);
  // A heartbeat at the instant of the failure has been sent.
  one.failures.outages[0].from = Time::nanoseconds(25 * kMinute);
  CHECK(away(FoundBy::heartbeat) == 30 * kSecond);
}

TEST_CASE("of two failures at one instant the one that is noticed first counts") {
  StruckCluster one{.servers = 4, .jobs = {timed_ns(0, 60 * kMinute, 2)}};
  one.failures.outages = {outage(25 * kMinute, 90 * kMinute, 0, 1), outage(25 * kMinute, 90 * kMinute, 1, 2)};
  one.failures.outages[0].found_by = FoundBy::timeout;
  one.failures.outages[1].found_by = FoundBy::heartbeat;
  const RunResult result = one.run();
  CHECK(result.jobs[0].away == Time::seconds(30));
  CHECK(result.jobs[0].interruptions == 1);
}

TEST_CASE("a hang is noticed after some iterations of the job, or after the time-out") {
  // Iterations take 7 ns; the failure comes in the third one, at 20.
  StruckCluster one{.servers = 2, .jobs = {JobSpec{}}, .graphs = {"role worker 1 | compute step worker 7"}};
  one.jobs[0].iterations = 10;
  one.jobs[0].memory_per_gpu = Bytes{1};
  one.failures.outages = {outage(20, 10'000'000'000'000, 0, 1)};
  one.failures.outages[0].found_by = FoundBy::timeout;
  one.failures.detectors.timeout_iterations = 3;
  CHECK(one.run().jobs[0].away.ns() == 21);
  one.failures.outages[0].from = Time::nanoseconds(6);  // no iteration has ended
  CHECK(one.run().jobs[0].away == Time::seconds(1800));
  one.failures.outages[0].from = Time::nanoseconds(20);
  one.failures.detectors.timeout = Time::nanoseconds(15);
  CHECK(one.run().jobs[0].away.ns() == 15);
}

TEST_CASE("some of the failures of a job by itself are hangs") {
  StruckCluster one{.servers = 1, .jobs = {timed_ns(0, 1000 * kMinute)}};
  one.failures.of_jobs = DurationLaw::exponential(Time::seconds(60));
  one.failures.jobs_found_by = FoundBy::exit_code;
  one.failures.detectors.timeout = Time::seconds(100);
  one.failures.detectors.exit_code = Time::seconds(1);
  const auto hangs = [&](double share) {
    one.failures.hangs = share;
    const JobResult job = one.run().jobs[0];
    CHECK(job.interruptions > 800);
    // Each is noticed after 1 s or after 100 s.
    return (job.away.to_seconds() - job.interruptions) / 99 / job.interruptions;
  };
  CHECK(hangs(0) == near_absolute(0, 1e-9));
  CHECK(hangs(0.25) == near(0.25, 0.2));
  CHECK(hangs(1) == near(1));
}

TEST_CASE("what has been slow for a while is isolated until its repair") {
  // Iterations of 7 s. From 70 s on the GPU takes 1.5 times as long; after 21 s, which are 14 of work, it is isolated,
  // and the job goes on with its last iteration on the other server.
  StruckCluster one{.servers = 2, .jobs = {JobSpec{}}, .graphs = {"role worker 1 | compute step worker 7000000000"}};
  one.jobs[0].iterations = 20;
  one.jobs[0].memory_per_gpu = Bytes{1};
  one.failures.outages = {outage(70 * kSecond, 1000 * kSecond, 0, 1)};
  one.failures.outages[0].slows = Slowdown{1'500, 1'000};
  one.failures.detectors.slow_for = Time::seconds(21);
  CHECK(one.run().jobs[0].finish == Time::seconds(70 + 105));
  one.failures.outages[0].found_by = FoundBy::slowdown;
  const RunResult result = one.run();
  CHECK(result.jobs[0].finish == Time::seconds(70 + 21 + 56));
  CHECK(result.jobs[0].interruptions == 1);
  CHECK(result.jobs[0].away == Time{});
  CHECK(result.failures == 1);
  CHECK(result.gpus[0].down == Time::seconds(56));
  CHECK(result.jobs[0].held == Time::seconds(140 + 7));
  CHECK(result.jobs[0].slowed == GpuTime{Time::seconds(7), 1});
  // It recovers before, or is not slow enough.
  one.failures.outages[0].until = Time::seconds(91);
  CHECK(one.run().jobs[0].interruptions == 0);
  one.failures.outages[0].until = Time::seconds(1000);
  one.failures.detectors.slow = 1'501;
  CHECK(one.run().jobs[0].interruptions == 0);
}

TEST_CASE("a cold spare takes the place of a hot one, and starts meanwhile") {
  // Servers 0 and 1 work, 2 is a hot spare, 3 a cold one. Hot ones take 10 s, cold ones 60 s. Server 0 fails at 100 s:
  // 2 is there at 110, and 3 is hot at 160. Server 1 fails at `second`.
  StruckCluster one{.servers = 4, .jobs = {timed_ns(0, 1000 * kSecond, 2)}};
  one.failures.spares = one.failures.cold_spares = 1;
  one.failures.spare_delay = Time::seconds(10);
  one.failures.cold_delay = Time::seconds(60);
  const auto finish = [&one](std::int64_t second) {
    one.failures.outages = {outage(100 * kSecond, 9000 * kSecond, 0, 1),
                            outage(second * kSecond, 9000 * kSecond, 1, 2)};
    const RunResult result = one.run();
    check_sums(result);
    return result.jobs[0].finish.ns() / kSecond;
  };
  CHECK(finish(300) == 1000 + 10 + 10);
  CHECK(finish(120) == 1000 + 10 + 40);  // 3 starts already, and takes the place when it has: at 160
  CHECK(finish(100) == 1000 + 60);       // the hot one takes one place, the cold one the other
  one.failures.spares = 0;
  one.failures.cold_spares = 2;
  CHECK(finish(300) == 1000 + 60 + 60);
}

TEST_CASE("what is repaired becomes a hot spare if one is missing, else a cold one") {
  // Two servers, a hot spare and no cold one: 0 fails and comes back as the hot spare.
  StruckCluster one{.servers = 4, .jobs = {timed_ns(0, 1000 * kSecond, 2)}};
  one.failures.spares = one.failures.cold_spares = 1;
  one.failures.cold_delay = Time::seconds(60);
  // 0 fails at 100: 2 takes its place at once, 3 is hot from 160 on. 0 is repaired at 200 and becomes cold. 1 fails at
  // 300: 3 takes its place, 0 is hot from 360 on. 2 fails at 310: 0 takes its place at 360.
  one.failures.outages = {outage(100 * kSecond, 200 * kSecond, 0, 1), outage(300 * kSecond, 9000 * kSecond, 1, 2),
                          outage(310 * kSecond, 9000 * kSecond, 2, 3)};
  CHECK(one.run().jobs[0].finish == Time::seconds(1000 + 50));
  // It is repaired at 130, while 3 still starts: one is missing no longer, and so it is cold, too.
  one.failures.outages[0].until = Time::seconds(130);
  CHECK(one.run().jobs[0].finish == Time::seconds(1000 + 50));
  // 3 doesn't work, so that 0 is the hot spare from 200 on.
  one.failures.outages.push_back(outage(50 * kSecond, 9000 * kSecond, 3, 4));
  one.failures.outages[0].until = Time::seconds(200);
  one.failures.outages[2].until = Time::seconds(400);
  CHECK(one.run().jobs[0].finish == Time::seconds(1000 + 90));
}

TEST_CASE("a cold spare doesn't age") {
  // Each server fails after 100 s of running, for good. A job of 10 s at a time arrives each 100 s.
  StruckCluster one{.servers = 3, .jobs = {timed_ns(0, 290 * kSecond)}};
  one.failures.components.push_back(
      {"server", 1, false, DurationLaw::constant(Time::seconds(100)), DurationLaw::constant(Time::seconds(100'000))});
  one.failures.cold_spares = 2;
  CHECK(one.run().jobs[0].finish == Time::seconds(290));
  CHECK(one.run().jobs[0].interruptions == 2);
  one.failures.cold_spares = 0;
  one.failures.spares = 2;
  one.until = Time::seconds(1000);
  CHECK(one.run().jobs[0].state != JobState::finished);
}
