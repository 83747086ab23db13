// What policies make of changes that they haven't decided: jobs that shrink because servers go back, servers that come,
// attempts that fail, jobs that are killed, ends between two passes. Worked out by hand; times are in seconds.

#include "tests/policies/scheduling_kit.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Servers of 4 GPUs, of which the last so many may be lent, as `changes` say (second, servers).
struct LendingCluster {
  ClusterSpec cluster;
  FailureSpec failures;

  LendingCluster(int servers, int lent, const std::vector<std::pair<std::int64_t, int>>& changes) {
    cluster.servers = servers;
    cluster.gpus_per_server = 4;
    cluster.gpu_memory = Bytes{1};
    failures.loans.servers = lent;
    for (const auto& [second, count] : changes) failures.loans.changes.push_back({Time::seconds(second), count});
  }
  /// One job may also have `fewer` GPUs, on which it is slower by as much.
  [[nodiscard]] Played play_with(const Choice& policy, std::vector<JobSpec> jobs, int fewer,
                                 std::size_t elastic = 0) const {
    const int gpus = jobs[elastic].gpus;
    jobs[elastic].sizes = 0;
    const std::vector<JobSize> sizes{{.gpus = fewer, .paces = {{.together = kNominalPace * gpus / fewer}}},
                                     {.gpus = gpus, .paces = {{.together = kNominalPace}}}};
    Played played = play(policy, cluster, std::move(jobs), nullptr, {}, {sizes}, {}, failures);
    CHECK(played.faults.empty());
    return played;
  }
};

JobSpec job_in(std::int32_t vc, std::int64_t submit, int gpus, std::int64_t duration) {
  JobSpec job = timed_job(submit, gpus, duration);
  job.vc = vc;
  return job;
}

JobSpec job_by(std::int32_t user, std::int64_t submit, int gpus, std::int64_t duration) {
  JobSpec job = timed_job(submit, gpus, duration);
  job.user = user;
  return job;
}

double start_s(const Played& played, std::size_t job) {
  return played.result.jobs[job].start.to_seconds();
}

}  // namespace

TEST_CASE("a job that shrank runs on, and a waiting job gets the GPUs that it left") {
  // A has 16 GPUs. At 20 s a server goes back, and A goes on with 8 of 12 GPUs: 180 s of its work take 360. B, which
  // has waited for 4 GPUs since 1 s, starts at once.
  const LendingCluster lending{4, 2, {{0, 2}, {20, 1}}};
  for (const Choice& policy : std::vector<Choice>{{"fifo", {}},
                                                  {"fit-first", {}},
                                                  {"smallest-first", {}},
                                                  {"priority", {{"preemptive", false}}},
                                                  {"las", {}},
                                                  {"dlas", {}},
                                                  {"gittins", {}},
                                                  {"easy", {}},
                                                  {"conservative", {}},
                                                  {"slurm-backfill", {{"batch_sched_delay_s", 0.0}}},
                                                  {"fair-share", {}},
                                                  {"drf", {}}}) {
    INFO(policy.name);
    CHECK(holds(lending.play_with(policy, {timed_job(0, 16, 200), timed_job(1, 4, 50)}, 8)) ==
          "A16 0-20, A8 20-380, B4 20-70");
  }
}

TEST_CASE("a job that shrank and migrates otherwise keeps its GPUs") {
  const LendingCluster lending{4, 2, {{0, 2}, {20, 1}}};
  CHECK(holds(lending.play_with({"las", {{"migrate", true}}}, {timed_job(0, 16, 200), timed_job(1, 4, 50)}, 8)) ==
        "A16 0-20, A8 20-380, B4 20-70");
}

TEST_CASE("srtf: what remains of a job that shrank takes longer on fewer GPUs") {
  // At 20 s A has 180 s of work left, which take 360 on 8 GPUs. B of 250 s, from 30 s on, takes its place: A has 350 s
  // left then, 175 s of its work. It waits for both servers, which come at 300 s.
  const LendingCluster lending{4, 2, {{0, 2}, {20, 0}, {300, 2}}};
  CHECK(holds(lending.play_with({"srtf", {{"rewalk", true}}}, {timed_job(0, 16, 200), timed_job(30, 8, 250)}, 8)) ==
        "A16 0-20, A8 20-30, B8 30-280, A16 300-475");
}

TEST_CASE("dlas counts the time on GPUs of a job that shrank, however many they are") {
  // A is demoted after 100 s on GPUs, 16 of them and then 8. B takes its place then, though it has come at 90 s.
  const LendingCluster lending{4, 2, {{0, 2}, {20, 0}, {110, 2}}};
  const Choice policy{"dlas", {{"queues", std::int64_t{2}}, {"limit_1_s", 100.0}}};
  CHECK(holds(lending.play_with(policy, {timed_job(0, 16, 200), timed_job(90, 8, 10)}, 8)) ==
        "A16 0-20, A8 20-100, B8 100-110, A16 110-250");
}

TEST_CASE("shares count the GPUs that a job still has") {
  // B of virtual cluster 0 shrinks from 6 GPUs to 2 at 20 s, A of 1 has 6. At 40 s 4 GPUs come. D of 0 goes before C of
  // 1, because 0 holds less, and has used less: 160 GPU s, not 240.
  const LendingCluster lending{3, 1, {{0, 1}, {20, 0}, {40, 1}}};
  for (const char* policy : {"drf", "fair-share"}) {
    INFO(std::string{policy});
    const Played played = lending.play_with(
        {policy, {}}, {job_in(1, 0, 6, 400), job_in(0, 0, 6, 1000), job_in(1, 30, 3, 10), job_in(0, 31, 3, 10)}, 2, 1);
    CHECK(start_s(played, 3) == 40);
    CHECK(start_s(played, 2) == 50);
  }
}

TEST_CASE("drf divides by what the servers have that are in service now") {
  // Own: 8 GPUs and 64 CPUs. From 5 s on there are 7 servers of 2 GPUs and 64 CPUs more. B of 1 holds 4 of 22 GPUs. C
  // of 2 holds 60 of 512 CPUs, which is less, though 60 of 64 would be more than 4 of 8 GPUs. So F of 2 goes before E.
  ClusterSpec cluster;
  cluster.servers = 8;
  cluster.gpus_per_server = 8;
  cluster.milli_cpus = 64'000;
  cluster.types = {{"own", 1, 8, Bytes{1}}, {"lent", 7, 2, Bytes{1}}};
  cluster.demanded = {"own", "lent"};
  FailureSpec failures;
  failures.loans.servers = 7;
  failures.loans.changes = {{Time{}, 0}, {Time::seconds(5), 7}};
  const auto job = [](std::int32_t vc, std::int64_t submit, int gpus, std::int64_t duration, std::int32_t type,
                      std::int32_t cpus) {
    JobSpec made = job_in(vc, submit, gpus, duration);
    made.gpu_type = type;
    made.milli_cpus = cpus * 1000;
    return made;
  };
  const Played played = play({"drf", {}}, cluster,
                             {job(0, 0, 1, 1, 0, 1), job(1, 20, 4, 1000, 0, 1), job(2, 20, 2, 1000, 1, 30),
                              job(0, 21, 4, 29, 0, 1), job(1, 30, 4, 100, 0, 1), job(2, 30, 4, 100, 0, 1)},
                             nullptr, {}, {}, {}, failures);
  CHECK(start_s(played, 5) == 50);
  CHECK(start_s(played, 4) == 150);
}

TEST_CASE("fair-share by user: a job within the quota of its virtual cluster takes borrowed GPUs back") {
  // A has the 4 GPUs of virtual cluster 0, B borrows the 4 of 1 until C wants them.
  ClusterSpec cluster;
  cluster.gpus_per_server = 8;
  cluster.gpu_memory = Bytes{1};
  cluster.vcs = {{{}, 4, true}, {{}, 4, true}};
  std::vector<JobSpec> jobs = {job_in(0, 0, 4, 1000), job_in(0, 0, 4, 1000), job_in(1, 10, 4, 100)};
  jobs[0].user = jobs[1].user = 0;
  jobs[2].user = 1;
  for (const char* policy : {"drf", "fair-share"}) {
    INFO(std::string{policy});
    CHECK(holds(play({policy, {{"by_user", true}}}, cluster, jobs)) == "A4 0-1000, B4 0-10, C4 10-110, B4 110-1100");
  }
}

TEST_CASE("usage ends with a job, not with the next pass") {
  // Passes come at multiples of 600 s. A of user 0 has used 1 GPU s by 600 s, B of user 1 has used 500.
  SchedulingRules rules;
  rules.quantum = Time::seconds(600);
  ClusterSpec cluster;
  cluster.gpus_per_server = 2;
  cluster.gpu_memory = Bytes{1};
  const std::vector<JobSpec> jobs = {job_by(0, 0, 1, 1), job_by(1, 0, 1, 500), job_by(1, 1, 2, 1000),
                                     job_by(0, 2, 2, 1000)};
  for (const Choice& policy :
       std::vector<Choice>{{"fair-share", {{"by_user", true}}},
                           {"slurm-backfill", {{"batch_sched_delay_s", 0.0}, {"weight_fairshare", 1000.0}}}}) {
    INFO(policy.name);
    const Played played = play(policy, cluster, jobs, nullptr, rules);
    CHECK(start_s(played, 3) == 600);
    CHECK(start_s(played, 2) == 1800);
  }
}

TEST_CASE("easy gives up a reservation that a retried job in front makes impossible") {
  // A fails at 18 s and runs again, until 95 s as far as anybody knows. So C, which ends at 90 s, does not delay B.
  JobSpec retried = timed_job(0, 1, 60), first = timed_job(5, 2, 10), behind = timed_job(30, 1, 60);
  retried.attempts = {Time::seconds(18)};
  retried.limit = Time::seconds(77);
  first.limit = Time::seconds(10);
  behind.limit = Time::seconds(60);
  CHECK(holds(play({"easy", {}}, 2, {retried, first, behind})) == "A1 0-18, A1 18-78, C1 30-90, B2 90-100");
}

TEST_CASE("gittins counts jobs that were killed at their limits as ended") {
  // A, B and C were killed after 25 GPU s, so jobs end between 20 and 30 GPU s. D, which has 24 GPU s at 34 s, goes
  // before E until it has 30 at 36 s.
  SchedulingRules rules;
  rules.kill_at_limit = true;
  ClusterSpec cluster;
  cluster.gpus_per_server = 3;
  cluster.gpu_memory = Bytes{1};
  JobSpec killed = timed_job(0, 1, 100);
  killed.limit = Time::seconds(25);
  const Choice policy{"gittins", {{"quantum_s", 10.0}, {"warm_up", std::int64_t{3}}}};
  const Played played =
      play(policy, cluster, {killed, killed, killed, timed_job(26, 3, 100), timed_job(34, 3, 100)}, nullptr, rules);
  CHECK(start_s(played, 3) == 26);
  CHECK(start_s(played, 4) == 36);
}

TEST_CASE("dlas: a promotion outlives a failed attempt") {
  // A is demoted at 10 s and promoted at 20, when it has waited as long as it had run. It fails at 22 s, with 8 s of
  // the first level left, and goes on before C. Demoted again at 30 s, it is promoted at 40 and goes before D.
  JobSpec retried = timed_job(0, 1, 14);
  retried.attempts = {Time::seconds(12)};
  const Choice policy{"dlas", {{"queues", std::int64_t{2}}, {"limit_1_s", 10.0}, {"promote", 1.0}}};
  CHECK(holds(play(policy, 1, {retried, timed_job(10, 1, 10), timed_job(20, 1, 10), timed_job(25, 1, 40)})) ==
        "A1 0-10, B1 10-20, A1 20-22, A1 22-30, C1 30-40, A1 40-46, D1 46-86");
}

TEST_CASE("a job's own time counts the attempts that it made") {
  // A is killed at its limit of 100 s. B may fail once, so it makes the first two of its three attempts. C fails at its
  // end and runs once more.
  SchedulingRules rules;
  rules.kill_at_limit = true;
  rules.failures.times = 1;
  JobSpec killed = timed_job(0, 1, 1000), fails = timed_job(0, 1, 1000), repeated = timed_job(0, 1, 100);
  killed.limit = Time::seconds(100);
  fails.attempts = {Time::seconds(100), Time::seconds(100)};
  repeated.outcome = JobOutcome::failed;
  ClusterSpec cluster;
  cluster.gpus_per_server = 8;
  cluster.gpu_memory = Bytes{1};
  const Played played = play({"fifo", {}}, cluster, {killed, fails, repeated}, nullptr, rules);
  CHECK(played.finishes() == "A100 B200 C200");
  CHECK(played.result.jobs[0].own == Time::seconds(100));
  CHECK(played.result.jobs[1].own == Time::seconds(200));
  CHECK(played.result.jobs[2].own == Time::seconds(200));
}
