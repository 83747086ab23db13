#include "sim/result.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <cstdint>

#include <doctest/doctest.h>

using namespace contend;

namespace {
JobResult job(std::uint32_t id, std::int64_t submit_s, std::int64_t start_s, std::int64_t finish_s) {
  JobResult result;
  result.id = JobId{id};
  result.state = JobState::finished;
  result.submit = Time::seconds(submit_s);
  result.start = Time::seconds(start_s);
  result.finish = Time::seconds(finish_s);
  return result;
}

RunResult two_jobs() {
  RunResult run;
  run.jobs = {job(0, 10, 10, 20), job(1, 12, 16, 42)};  // JCT 10 and 30, queueing 0 and 4, makespan 42 - 10 = 32
  run.jobs[1].communication = Time::seconds(8);
  run.jobs[1].contended = Time::seconds(2);
  run.gpus = {{{.busy = Time::seconds(16)}, GpuId{0u}, ServerId{0u}, 1},
              {{.busy = Time::seconds(8)}, GpuId{1u}, ServerId{0u}, 1}};
  run.links.resize(1);
  run.links[0].busy = Time::seconds(8);
  run.end = Time::seconds(42);
  return run;
}
}  // namespace

TEST_CASE("a summary of two jobs by hand") {
  const Summary summary = summarise(two_jobs());
  CHECK(summary.jobs == 2);
  CHECK(summary.finished == 2);
  CHECK(summary.avg_jct_s == near(20));
  CHECK(summary.median_jct_s == near(20));
  CHECK(summary.p95_jct_s == near(29));
  CHECK(summary.max_jct_s == near(30));
  CHECK(summary.makespan_s == near(32));
  CHECK(summary.avg_queueing_s == near(2));
  CHECK(summary.gpu_utilisation == near(24.0 / 64));
  CHECK(summary.network_utilisation == near(8.0 / 32));
  CHECK(summary.contended_share == near(0.25));
}

TEST_CASE("preemptions, later waits and lost work count") {
  RunResult run = two_jobs();
  run.jobs[0].gpus = 1;
  run.jobs[1].gpus = 4;
  run.jobs[1].waited = Time::seconds(4 + 10);  // before its first start, and after a preemption
  run.jobs[1].preemptions = 1;
  run.jobs[1].lost = GpuTime{Time::seconds(3), 4};
  JobResult unfinished = job(2, 0, 0, 0);
  unfinished.state = JobState::preempted;
  unfinished.gpus = 2;
  unfinished.waited = Time::seconds(100);
  unfinished.preemptions = 2;
  unfinished.lost = GpuTime{Time::seconds(5), 2};
  run.jobs.push_back(unfinished);
  const Summary summary = summarise(run);
  CHECK(summary.avg_queueing_s == near(2));
  CHECK(summary.avg_waiting_s == near(7));  // 0 and 14, of the finished jobs
  CHECK(summary.preemptions == 3);          // of all jobs
  CHECK(summary.lost_gpu_s == near(3 * 4 + 5 * 2));
}

TEST_CASE("a run that was cut short is measured until its end, over its finished jobs") {
  RunResult run = two_jobs();
  run.jobs[1].state = JobState::running;
  run.jobs[1].finish = Time::never();
  run.end = Time::seconds(26);
  const Summary summary = summarise(run);
  CHECK(summary.finished == 1);
  CHECK(summary.unfinished == 1);
  CHECK(summary.max_jct_s == near(10));
  CHECK(summary.makespan_s == near(10));
  CHECK(summary.gpu_utilisation == near(24.0 / 32));
}

TEST_CASE("jobs that failed are neither finished nor unfinished, and don't prolong what is measured") {
  RunResult run = two_jobs();
  run.jobs.push_back(job(2, 10, 10, 10));
  run.jobs[2].state = JobState::failed;
  run.end = Time::seconds(100);
  const Summary summary = summarise(run);
  CHECK(summary.jobs == 3);
  CHECK(summary.finished == 2);
  CHECK(summary.failed == 1);
  CHECK(summary.unfinished == 0);
  CHECK(summary.gpu_utilisation == near(24.0 / 64));  // until 42, when the last job ends
}

TEST_CASE("figures over no finished job are NaN") {
  RunResult run = two_jobs();
  for (JobResult& each : run.jobs) each.state = JobState::failed;
  const Summary summary = summarise(run);
  CHECK(summary.failed == 2);
  CHECK(std::isnan(summary.avg_jct_s));
  CHECK(std::isnan(summary.makespan_s));
  CHECK(summarise(RunResult{}).jobs == 0);
}

TEST_CASE("jobs that were given up are in no time of jobs, and the cluster is measured until the last of them ends") {
  RunResult run = two_jobs();
  run.jobs.push_back(job(2, 10, 20, 90));
  run.jobs[2].state = JobState::given_up;
  run.end = Time::seconds(100);
  const Summary summary = summarise(run);
  CHECK(summary.jobs == 3);
  CHECK(summary.finished == 2);
  CHECK(summary.given_up == 1);
  CHECK(summary.failed == 0);
  CHECK(summary.unfinished == 0);
  CHECK(summary.avg_jct_s == near(20));
  CHECK(summary.avg_queueing_s == near(2));
  CHECK(summary.makespan_s == near(32));
  CHECK(summary.gpu_utilisation == near(24.0 / (2 * 80)));
}

TEST_CASE("jobs killed at their limits or failed in the end count in the times of jobs, and meet no deadline") {
  RunResult run;
  // All end within their deadlines, if they end; one was refused.
  for (std::uint32_t id = 0; id < 6; ++id) {
    run.jobs.push_back(job(id, 0, 0, 10));
    run.jobs.back().deadline = Time::seconds(20);
  }
  run.jobs[1].outcome = JobOutcome::timeout;
  run.jobs[2].outcome = JobOutcome::failed;
  run.jobs[3].outcome = JobOutcome::cancelled;
  run.jobs[4].state = JobState::given_up;
  run.jobs[5].state = JobState::failed;
  const Summary summary = summarise(run);
  CHECK(summary.finished == 4);
  CHECK(summary.killed == 1);
  CHECK(summary.failed_outcome == 1);
  CHECK(summary.avg_jct_s == near(10));
  CHECK(summary.deadlines_met == near(2.0 / 6));  // the first, and the one that its user cancelled
}
