// Tests jobs that are submitted after the end of others. Times are in seconds.

#include "sim/error.hpp"
#include "tests/sim/struck_cluster.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

JobSpec job(std::int64_t submit_s, std::int64_t duration_s, int gpus, std::vector<JobId> after = {},
            std::int64_t think_s = 0) {
  JobSpec spec = timed_ns(submit_s * kSecond, duration_s * kSecond, gpus);
  spec.after = std::move(after);
  spec.think = Time::seconds(think_s);
  return spec;
}

/// Preparation, two trainings after it, an evaluation after both, and a job that has nothing to do with them.
StruckCluster pipeline() {
  StruckCluster cluster{.servers = 1, .gpus_per_server = 8, .jobs = {}};
  cluster.jobs = {job(0, 100, 4), job(0, 300, 4, {JobId{0U}}, 10), job(0, 200, 4, {JobId{0U}}),
                  job(0, 50, 1, {JobId{1U}, JobId{2U}}, 5), job(150, 100, 8)};
  return cluster;
}

std::string times_of(const RunResult& result) {
  const auto text = [](Time time) {
    return time == Time::never() ? std::string{"-"} : std::to_string(time.ns() / kSecond);
  };
  std::string all;
  for (const JobResult& each : result.jobs)
    all += (all.empty() ? "" : " ") + text(each.submit) + ":" + text(each.start) + "-" + text(each.finish);
  return all;
}

}  // namespace

TEST_CASE("a job comes when the last of the jobs before it has ended, and its think time has passed") {
  const RunResult result = pipeline().run();
  CHECK(times_of(result) == "0:0-100 110:110-410 100:100-300 415:510-560 150:410-510");
  CHECK(result.jobs[3].follows);
  CHECK_FALSE(result.jobs[4].follows);
  CHECK(result.jobs[3].queueing() == Time::seconds(95));
  check_sums(result);
}

TEST_CASE("a job that comes after one which is cut off is not submitted, and has no time of submission") {
  StruckCluster cluster = pipeline();
  cluster.until = Time::seconds(305);
  const RunResult result = cluster.run();
  CHECK(times_of(result) == "0:0-100 110:110-- 100:100-300 -:--- 150:---");
  CHECK(result.jobs[3].state == JobState::submitted);
}

TEST_CASE("the end of a job that the cluster can't run, or that failures end, counts as well") {
  StruckCluster cluster{.servers = 1, .gpus_per_server = 2, .jobs = {}};
  cluster.jobs = {job(20, 5, 3), job(0, 5, 2, {JobId{0U}}, 1), job(0, 60, 1), job(0, 5, 1, {JobId{2U}}, 2)};
  cluster.failures.outages = {outage(30 * kSecond, 31 * kSecond, 0, 1)};
  cluster.failures.retries = 0;
  const RunResult result = cluster.run();
  CHECK(result.jobs[0].state == JobState::failed);
  CHECK(result.jobs[1].submit == Time::seconds(21));
  CHECK(result.jobs[2].state == JobState::given_up);
  CHECK(result.jobs[3].submit == Time::seconds(32));
  CHECK(result.jobs[3].finish == Time::seconds(41));  // the second job waits until 31 s, and takes 5 s
}

TEST_CASE("whether a job that comes after others is measured depends on when it really came") {
  StruckCluster cluster = pipeline();
  cluster.window = {Time::seconds(105), Time::seconds(200)};
  const RunResult result = cluster.run();
  std::string measured;
  for (const JobResult& each : result.jobs) measured += each.measured ? 'm' : '-';
  CHECK(measured == "-m--m");
  CHECK(result.end == Time::seconds(510));  // the last measured job has ended then
}

TEST_CASE("the deadline of a job that comes after others moves with its submission") {
  StruckCluster cluster = pipeline();
  cluster.jobs[3].deadline = Time::seconds(60);
  cluster.jobs[4].deadline = Time::seconds(600);
  const RunResult result = cluster.run();
  CHECK(*result.jobs[3].deadline == Time::seconds(415 + 60));
  CHECK(*result.jobs[4].deadline == Time::seconds(600));
}

TEST_CASE("among jobs with equal keys, one that comes after others is behind those that came before it") {
  StruckCluster cluster{.servers = 1, .gpus_per_server = 1, .jobs = {}};
  cluster.jobs = {job(0, 10, 1), job(0, 10, 1, {JobId{0U}}), job(5, 10, 1), job(12, 10, 1)};
  CHECK(times_of(cluster.run()) == "0:0-10 10:20-30 5:10-20 12:30-40");
}

TEST_CASE("jobs that would never be submitted are refused") {
  const auto refused = [](std::vector<JobSpec> jobs, const std::string& reason) {
    StruckCluster cluster{.servers = 1, .gpus_per_server = 1, .jobs = std::move(jobs)};
    CHECK_THROWS_WITH_AS(static_cast<void>(cluster.run()), reason.c_str(), InputError);
  };
  refused({job(0, 1, 1, {JobId{0U}})}, "job `job0`: it comes after jobs that come after it, so it is never submitted");
  refused({job(0, 1, 1), job(0, 1, 1, {JobId{2U}}), job(0, 1, 1, {JobId{0U}, JobId{1U}})},
          "job `job1`: it comes after jobs that come after it, so it is never submitted");
  refused({job(0, 1, 1, {JobId{1U}})}, "job `job0`: it comes after a job that there isn't");
  refused({job(0, 1, 1), job(0, 1, 1, {JobId{0U}}, -1)},
          "job `job1`: it is submitted before the end of a job that it comes after");
}
