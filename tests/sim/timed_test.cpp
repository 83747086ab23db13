// Tests jobs with a given duration: whole GPUs, shares, CPUs, attempts. Times are in ns.

#include "sim/error.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/test_kit.hpp"

#include <climits>
#include <cstddef>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

RunResult run(const ClusterSpec& cluster, std::vector<JobSpec> jobs, const Setup& rules = {},
              Observer* observer = nullptr, const SchedulingRules& scheduling = {}) {
  Workload workload;
  for (std::size_t j = 0; j < jobs.size(); ++j) jobs[j].name = static_cast<char>('A' + static_cast<int>(j));
  workload.jobs = std::move(jobs);
  PolicySet policies = policies_of(rules, {});
  policies.placement = std::make_unique<AnyGpus>();
  SimulationOptions options;
  options.until = rules.until;
  options.observer = observer;
  options.rules = scheduling;
  Simulation simulation{
      cluster, workload, std::move(policies),
      std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(cluster.servers), workload.jobs.size()),
      std::move(options)};
  return simulation.run();
}

ClusterSpec cluster(int servers, int gpus_per_server) {
  ClusterSpec spec;
  spec.servers = servers;
  spec.gpus_per_server = gpus_per_server;
  spec.gpu_memory = Bytes{100};
  return spec;
}

std::vector<std::int64_t> starts(const RunResult& result) {
  std::vector<std::int64_t> times;
  for (const JobResult& job : result.jobs) times.push_back(job.start.ns());
  return times;
}
std::vector<std::int64_t> finishes(const RunResult& result) {
  std::vector<std::int64_t> times;
  for (const JobResult& job : result.jobs) times.push_back(job.finish.ns());
  return times;
}
using Times = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a timed job has its GPUs to itself for its duration; those behind wait") {
  // Two GPUs. A takes both 0-10, B and C one each at 10, D both when the longer of them ends.
  const RunResult result = run(cluster(2, 1), {timed_ns(0, 10, 2), timed_ns(1, 5), timed_ns(2, 7), timed_ns(3, 1, 2)});
  CHECK(starts(result) == Times{0, 10, 10, 17});
  CHECK(finishes(result) == Times{10, 15, 17, 18});
  CHECK(result.gpus[0].busy.ns() == 10 + 5 + 1);
  CHECK(result.gpus[1].busy.ns() == 10 + 7 + 1);
  CHECK(result.jobs[0].compute.ns() == 20);
  CHECK(result.jobs[0].servers == 2);
  CHECK(result.end.ns() == 18);
}

TEST_CASE("an observer sees each attempt of a timed job on each of its GPUs, but not jobs that share GPUs") {
  Recorder recorder;
  std::vector<JobSpec> jobs{timed_ns(0, 10, 2), timed_ns(1, 5), timed_ns(2, 7), timed_ns(20, 4)};
  jobs[1].attempts = {Time::nanoseconds(3)};
  jobs[3].gpu_share = 500;
  static_cast<void>(run(cluster(2, 1), jobs, {}, &recorder));
  // A has both until 10. B fails at 13, its GPU is free, and it starts again at once; C runs beside it. D shares.
  CHECK(recorder.gpu(0) == "A.run#0 0-10 | B.run#0 10-13 | B.run#1 13-18");
  CHECK(recorder.gpu(1) == "A.run#0 0-10 | C.run#0 10-17");
}

TEST_CASE("a job without work ends when it starts, and its GPUs are used at the same instant") {
  const RunResult result = run(cluster(1, 1), {timed_ns(5, 0), timed_ns(5, 3), timed_ns(5, 0)});
  CHECK(finishes(result) == Times{5, 8, 8});
  CHECK(result.jobs[2].start.ns() == 8);
}

TEST_CASE("shares of one GPU: as many as fit; a whole GPU needs an empty one") {
  std::vector<JobSpec> jobs{timed_ns(0, 10), timed_ns(0, 10), timed_ns(0, 4), timed_ns(0, 10)};
  jobs[0].gpu_share = 600;
  jobs[1].gpu_share = 500;
  jobs[2].gpu_share = 400;
  // One GPU: A 600 and C 400 at once; B needs 500: after C there are 400 free, so it waits for A; D for all.
  const RunResult result = run(cluster(1, 1), jobs);
  CHECK(starts(result) == Times{0, 10, 0, 20});
  // 10 at 60 %, 4 at 40 % (1.6, rounded down), 10 at 50 %, 10 whole.
  CHECK(result.gpus[0].busy.ns() == 6 + 1 + 5 + 10);
}

TEST_CASE("CPUs and memory of a server limit how many ranks it takes") {
  ClusterSpec spec = cluster(2, 4);
  spec.milli_cpus = 8000;
  std::vector<JobSpec> jobs{timed_ns(0, 10, 3), timed_ns(0, 10, 2), timed_ns(0, 10, 5)};
  for (JobSpec& job : jobs) job.milli_cpus = 3000;  // two ranks a server, four in all
  const RunResult result = run(spec, jobs);
  CHECK(starts(result) == Times{0, 10, Time::never().ns()});
  CHECK(result.jobs[0].servers == 2);
  CHECK(result.jobs[2].state == JobState::failed);
  CHECK(result.jobs[2].reason == "needs CPUs or memory for 5 ranks, the servers have them for 2 each");

  ClusterSpec small = cluster(1, 4);
  small.host_memory = Bytes{10};
  std::vector<JobSpec> two{timed_ns(0, 10), timed_ns(0, 10)};
  two[0].host_memory = two[1].host_memory = Bytes{6};
  CHECK(starts(run(small, two)) == Times{0, 10});
}

TEST_CASE("after a failed attempt the job queues again, in the order of the policy") {
  // One GPU. A tries 4, then 6; B came at 1. In order of submission A goes on at once; with B shorter B is first.
  std::vector<JobSpec> jobs{timed_ns(0, 6), timed_ns(1, 3)};
  jobs[0].attempts = {Time::nanoseconds(4)};
  const RunResult fifo = run(cluster(1, 1), jobs);
  CHECK(finishes(fifo) == Times{10, 13});
  Setup shortest;
  shortest.key = by_remaining_service;
  const RunResult srtf = run(cluster(1, 1), jobs, shortest);
  CHECK(finishes(srtf) == Times{13, 7});
  CHECK(srtf.jobs[0].compute.ns() == 10);
}

TEST_CASE("the cost of an attempt does not grow with the number of attempts") {
  // Linear in the number of attempts this takes a few hundredths of a second; quadratic, most of a minute.
  constexpr std::int64_t kAttempts = 100'000;
  std::vector<JobSpec> jobs{timed_ns(0, 1), timed_ns(1, 1)};
  jobs[0].attempts.assign(kAttempts, Time::nanoseconds(2));
  const std::clock_t begin = std::clock();
  const RunResult result = run(cluster(1, 1), jobs);
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 10);
  CHECK(result.jobs[0].attempts == kAttempts + 1);
  CHECK(finishes(result) == Times{2 * kAttempts + 1, 2 * kAttempts + 2});
}

TEST_CASE("a preempted timed job continues where it stopped") {
  // SRTF: A 10 at 0, B 3 at 4 pushes it out (6 left), A 7-13.
  Setup setup;
  setup.key = by_remaining_service;
  setup.preemptive = true;
  std::vector<JobSpec> jobs{timed_ns(0, 10), timed_ns(4, 3)};
  for (JobSpec& job : jobs) job.memory_per_gpu = Bytes{0};
  const RunResult result = run(cluster(1, 1), jobs, setup);
  CHECK(finishes(result) == Times{13, 7});
  CHECK(result.jobs[0].preemptions == 1);
  CHECK(result.jobs[0].compute.ns() == 10);
}

TEST_CASE("virtual clusters: their own servers, or a quota") {
  ClusterSpec own = cluster(3, 1);
  own.vcs = {{{0, 2}}, {{2, 3}}};
  std::vector<JobSpec> jobs{timed_ns(0, 10, 2), timed_ns(0, 10), timed_ns(0, 10), timed_ns(0, 10, 2)};
  jobs[0].vc = jobs[2].vc = 0;
  jobs[1].vc = jobs[3].vc = 1;
  const RunResult partitioned = run(own, jobs);
  CHECK(starts(partitioned) == Times{0, 0, 10, Time::never().ns()});
  CHECK(partitioned.jobs[3].reason == "needs 2 GPUs, its virtual cluster has 1");

  ClusterSpec quota = cluster(3, 1);
  quota.vcs = {{{}, 1}, {}};
  std::vector<JobSpec> users{timed_ns(0, 10), timed_ns(0, 10), timed_ns(0, 10, 2), timed_ns(0, 10, 2)};
  users[0].vc = users[1].vc = users[3].vc = 0;
  users[2].vc = 1;
  const RunResult limited = run(quota, users);
  CHECK(starts(limited) == Times{0, 10, 0, Time::never().ns()});
  CHECK(limited.jobs[3].reason == "needs 2 GPUs, the quota of its virtual cluster is 1");

  quota.vcs = {{.quota = 0}, {}};
  const RunResult none = run(quota, users);
  CHECK(starts(none) == Times{Time::never().ns(), Time::never().ns(), 0, Time::never().ns()});
  CHECK(none.jobs[0].reason == "needs 1 GPU, the quota of its virtual cluster is 0");
}

TEST_CASE("no other job uses the servers that a virtual cluster owns") {
  // Server 0 is VC 0's, of which there is no job; VC 1 has a quota. Of the 2 x 2 GPUs, 2 are left to the others.
  ClusterSpec spec = cluster(2, 2);
  spec.vcs = {{{0, 1}}, {{}, 4}};
  std::vector<JobSpec> jobs{timed_ns(0, 10, 2), timed_ns(0, 10, 2), timed_ns(0, 10, 4), timed_ns(0, 10, 4)};
  jobs[0].vc = jobs[2].vc = 1;
  const RunResult result = run(spec, jobs);
  CHECK(starts(result) == Times{0, 10, Time::never().ns(), Time::never().ns()});
  CHECK(result.jobs[2].reason == "needs 4 GPUs, the servers that no virtual cluster owns have 2");
  CHECK(result.jobs[3].reason == "needs 4 GPUs, the servers that no virtual cluster owns have 2");

  spec.vcs = {{{1, 2}}, {{0, 1}}};  // in any order, and all are owned
  jobs[0].vc = 0;
  jobs[1].vc = 1;
  const RunResult none_left = run(spec, jobs);
  CHECK(starts(none_left) == Times{0, 0, Time::never().ns(), Time::never().ns()});
  CHECK(none_left.jobs[2].reason == "needs 4 GPUs, its virtual cluster has 2");
  CHECK(none_left.jobs[3].reason == "needs 4 GPUs, the servers that no virtual cluster owns have 0");

  spec.vcs = {{{1, 2}}};
  CHECK_THROWS_AS(run(spec, jobs), InputError);
  spec.vcs = {{{0, 1}}, {{0, 2}}};
  CHECK_THROWS_AS(run(spec, jobs), InputError);
  spec.vcs = {{{0, 1}}, {{1, 1}}};  // the second owns server 1 to 1, which is none
  CHECK_THROWS_AS(run(spec, jobs), InputError);
}

TEST_CASE("16,384 GPUs for 54 days: service and GPU time beyond 2^63 ns keep their order and their sums") {
  const std::int64_t long_ns = 54LL * 86'400 * 1'000'000'000;
  Setup setup;
  setup.key = by_remaining_service;
  const std::vector<JobSpec> jobs{timed_ns(0, 10, 16'384), timed_ns(1, long_ns, 16'384), timed_ns(1, 7, 16'384)};
  const RunResult result = run(cluster(2048, 8), jobs, setup);
  CHECK(result.jobs[2].start.ns() == 10);  // the short one first
  CHECK(result.jobs[1].start.ns() == 17);
  CHECK(result.jobs[1].compute == GpuTime{Time::nanoseconds(long_ns), 16'384});
  CHECK(result.jobs[1].compute.ns() > Int128{INT64_MAX});
  CHECK(result.jobs[1].held.ns() == long_ns);
}

TEST_CASE("invalid timed jobs are refused") {
  const auto complaint = [](const JobSpec& job) {
    try {
      run(cluster(1, 1), {job});
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(complaint(timed_ns(0, -1)) == "job `A`: its duration is negative");
  CHECK(complaint(timed_ns(0, INT64_MAX / 2, 3)) ==
        "job `A`: its attempts take 146.2 years, a job may take at most 100");
  JobSpec shared = timed_ns(0, 1);
  shared.gpu_share = 1001;
  CHECK(complaint(shared) == "job `A`: its share of a GPU is not within 0..1000 thousandths");
  shared.gpu_share = 1000;
  CHECK(complaint(shared) == "");
}

TEST_CASE("a job is killed at its time limit: it keeps its work, has no further attempts, and frees its GPUs") {
  SchedulingRules rules;
  rules.kill_at_limit = true;
  std::vector<JobSpec> jobs{timed_ns(0, 10), timed_ns(1, 10), timed_ns(2, 10), timed_ns(3, 10)};
  jobs[0].limit = Time::nanoseconds(6);
  jobs[0].attempts = {Time::nanoseconds(4)};  // within the limit: fails at 4, queues behind no one, ends at 10
  jobs[1].limit = Time::nanoseconds(10);      // long enough
  jobs[2].limit = Time::nanoseconds(6);
  jobs[2].attempts = {Time::nanoseconds(8)};  // the first attempt is killed, so there is no other
  const RunResult result = run(cluster(1, 1), jobs, {}, nullptr, rules);
  CHECK(finishes(result) == Times{10, 20, 26, 36});
  CHECK(result.jobs[0].outcome == JobOutcome::timeout);
  CHECK(result.jobs[0].compute.ns() == 10);
  CHECK(result.jobs[0].attempts == 2);
  CHECK(result.jobs[1].outcome == JobOutcome::completed);
  CHECK(result.jobs[2].outcome == JobOutcome::timeout);
  CHECK(result.jobs[2].attempts == 1);
  CHECK(result.jobs[2].state == JobState::finished);
  CHECK(result.jobs[3].outcome == JobOutcome::completed);
  // Without the rule, limits are only estimates.
  CHECK(finishes(run(cluster(1, 1), jobs)) == Times{14, 24, 42, 52});
}

TEST_CASE("iterations of a job with a duration are done as its work is, and change nothing") {
  SchedulingRules rules;
  rules.kill_at_limit = true;
  rules.preemption = {Time{}, Time::nanoseconds(10), Time{}};
  std::vector<JobSpec> jobs{timed_ns(0, 30), timed_ns(0, 40), timed_ns(0, 10), timed_ns(0, 10), timed_ns(0, 10)};
  const std::uint64_t digest = [&] {
    jobs[1].limit = Time::nanoseconds(25);
    return run(cluster(1, 5), jobs, {.until = Time::nanoseconds(26)}, nullptr, rules).digest;
  }();
  jobs[0].iterations = 300;         // 26 of 30 when the run stops
  jobs[1].iterations = 400;         // killed at 25, saved at 20
  jobs[2].iterations = 7;           // done
  jobs[4].tells_iterations = true;  // one, which is done
  const RunResult result = run(cluster(1, 5), jobs, {.until = Time::nanoseconds(26)}, nullptr, rules);
  CHECK(result.jobs[0].iterations_done == 260);
  CHECK(result.jobs[1].iterations_done == 200);
  CHECK(result.jobs[2].iterations_done == 7);
  CHECK(result.jobs[3].iterations_done == 0);  // they are not known
  CHECK(result.jobs[4].iterations_done == 1);
  CHECK(result.digest == digest);
}

TEST_CASE("a job that is killed loses the work since its last checkpoint; its limit covers checkpoints") {
  SchedulingRules rules;
  rules.kill_at_limit = true;
  rules.preemption = {Time{}, Time::nanoseconds(10), Time::nanoseconds(2)};
  std::vector<JobSpec> jobs{timed_ns(0, 30)};  // 34 with its checkpoints: 0-10, 12-22, 24-34
  jobs[0].limit = Time::nanoseconds(30);
  const RunResult result = run(cluster(1, 1), jobs, {}, nullptr, rules);
  CHECK(finishes(result) == Times{30});
  CHECK(result.jobs[0].compute.ns() == 20);
  CHECK(result.jobs[0].lost.ns() == 6);
  CHECK(result.jobs[0].overhead.ns() == 4);
}

TEST_CASE("a job that fails comes back as often as the rule says, and fails again; its work is lost") {
  // One GPU. A fails after 10. Retried twice from its start, 5 and then 10 later: 0-10, 15-25, 35-45. B takes 4 at 11.
  SchedulingRules rules;
  rules.failures = {.times = 2, .delay = Time::nanoseconds(5), .growth = 2000, .from_start = true};
  std::vector<JobSpec> jobs{timed_ns(0, 10), timed_ns(11, 4)};
  jobs[0].outcome = JobOutcome::failed;
  const RunResult result = run(cluster(1, 1), jobs, {}, nullptr, rules);
  CHECK(finishes(result) == Times{45, 15});
  const JobResult& a = result.jobs[0];
  CHECK(a.state == JobState::finished);
  CHECK(a.outcome == JobOutcome::failed);
  CHECK(a.attempts == 3);
  CHECK(a.compute.ns() == 10);
  CHECK(a.lost.ns() == 20);
  CHECK(a.held.ns() == 30);
  CHECK(a.waited.ns() == 0);  // the delay is no time in the queue
  CHECK(result.jobs[1].attempts == 1);
  // A cancelled job stays away, and so does a failed one by default.
  jobs[0].outcome = JobOutcome::cancelled;
  CHECK(finishes(run(cluster(1, 1), jobs, {}, nullptr, rules)) == Times{10, 15});
  jobs[0].outcome = JobOutcome::failed;
  CHECK(finishes(run(cluster(1, 1), jobs)) == Times{10, 15});
}

TEST_CASE("a retry from the last checkpoint repeats the work since then, after a restart") {
  // 25 of work, a checkpoint after each 10: at 10 and 20. It fails at 25, and repeats 5 after a restart of 3: 25-33.
  SchedulingRules rules;
  rules.failures = {.times = 1};
  rules.preemption = {Time::nanoseconds(3), Time::nanoseconds(10), Time{}};
  std::vector<JobSpec> jobs{timed_ns(0, 25, 2)};
  jobs[0].outcome = JobOutcome::failed;
  RunResult result = run(cluster(1, 2), jobs, {}, nullptr, rules);
  CHECK(finishes(result) == Times{33});
  CHECK(result.jobs[0].lost.ns() == 2 * 5);
  CHECK(result.jobs[0].overhead.ns() == 3);
  CHECK(result.jobs[0].compute.ns() == 2 * 25);
  // A checkpoint at the end would save nothing that is left: 20 of work are saved at 10.
  jobs = {timed_ns(0, 20)};
  jobs[0].outcome = JobOutcome::failed;
  result = run(cluster(1, 1), jobs, {}, nullptr, rules);
  CHECK(finishes(result) == Times{33});
  CHECK(result.jobs[0].lost.ns() == 10);
}

TEST_CASE("recorded attempts use up the retries; a job without any left ends failed") {
  // Attempts of 4, 6 and 10. With two retries all run; with one the job ends at 4 + 6; with three nothing else changes,
  // because the last attempt completes.
  std::vector<JobSpec> jobs{timed_ns(0, 10)};
  jobs[0].attempts = {Time::nanoseconds(4), Time::nanoseconds(6)};
  SchedulingRules rules;
  const auto end = [&](int times) {
    rules.failures = {.times = times, .from_start = true};
    return run(cluster(1, 1), jobs, {}, nullptr, rules).jobs[0];
  };
  for (const int times : {2, 3}) {
    CHECK(end(times).finish.ns() == 20);
    CHECK(end(times).attempts == 3);
    CHECK(end(times).outcome == JobOutcome::completed);
    CHECK(end(times).lost.ns() == 0);  // a job list doesn't say what later attempts could use
  }
  CHECK(end(1).finish.ns() == 10);
  CHECK(end(1).attempts == 2);
  CHECK(end(1).outcome == JobOutcome::failed);
  // If the last attempt fails, too, the retries that are left repeat it.
  jobs[0].outcome = JobOutcome::failed;
  CHECK(end(3).finish.ns() == 30);
  CHECK(end(3).attempts == 4);
  CHECK(end(3).lost.ns() == 10);
}

TEST_CASE("a job that is killed at its limit goes on after a retry, from its last checkpoint or from its start") {
  // 25 of work under a limit of 10, checkpoints after each 4: 0-10 saves 8, 10-20 saves 8 more, 20-29 the rest.
  SchedulingRules rules;
  rules.kill_at_limit = true;
  rules.timeouts = {.times = 5};
  rules.preemption = {Time{}, Time::nanoseconds(4), Time{}};
  std::vector<JobSpec> jobs{timed_ns(0, 25)};
  jobs[0].limit = Time::nanoseconds(10);
  JobResult job = run(cluster(1, 1), jobs, {}, nullptr, rules).jobs[0];
  CHECK(job.finish.ns() == 29);
  CHECK(job.outcome == JobOutcome::completed);
  CHECK(job.attempts == 3);
  CHECK(job.lost.ns() == 4);
  CHECK(job.compute.ns() == 25);
  // With one retry it ends at its limit, having saved 16.
  rules.timeouts.times = 1;
  job = run(cluster(1, 1), jobs, {}, nullptr, rules).jobs[0];
  CHECK(job.finish.ns() == 20);
  CHECK(job.outcome == JobOutcome::timeout);
  CHECK(job.compute.ns() == 16);
  CHECK(job.lost.ns() == 4);
  // From its start it gets no further: all but what the last attempt saved is lost.
  rules.timeouts = {.times = 2, .from_start = true};
  job = run(cluster(1, 1), jobs, {}, nullptr, rules).jobs[0];
  CHECK(job.finish.ns() == 30);
  CHECK(job.attempts == 3);
  CHECK(job.compute.ns() == 8);
  CHECK(job.lost.ns() == 22);
}

TEST_CASE("a retry takes its first place in the queue, or the place of a new submission") {
  // One GPU. A fails at 10 and queues again at 12 as B (4 at 1) has it until 14. C (4 at 2) and D (4 at 13) wait too.
  SchedulingRules rules;
  rules.failures = {.times = 1, .delay = Time::nanoseconds(2), .from_start = true};
  std::vector<JobSpec> jobs{timed_ns(0, 10), timed_ns(1, 4), timed_ns(2, 4), timed_ns(13, 4)};
  jobs[0].outcome = JobOutcome::failed;
  CHECK(finishes(run(cluster(1, 1), jobs, {}, nullptr, rules)) == Times{24, 14, 28, 32});
  rules.failures.at_end = true;  // behind C, in front of D
  CHECK(finishes(run(cluster(1, 1), jobs, {}, nullptr, rules)) == Times{28, 14, 18, 32});
}

TEST_CASE("jobs of iterations can't be retried: only their durations would say when they fail") {
  SchedulingRules rules;
  JobSpec job;
  job.outcome = JobOutcome::failed;
  CHECK(why_not_retried(rules, job).empty());
  rules.failures.times = 1;
  CHECK(why_not_retried(rules, job).find("only jobs with a duration") != std::string::npos);
  job.outcome = JobOutcome::completed;
  CHECK(why_not_retried(rules, job).empty());
}

TEST_CASE("hundreds of events of all kinds are pending, so that what they need is fetched ahead") {
  constexpr int kJobs = 400;
  Workload workload;
  workload.graphs.push_back(graph_from_text("role w 1 | compute f w 10 | f => f"));
  for (int j = 0; j < kJobs; ++j) {
    JobSpec job = timed_ns(j % 7, 100 + 3 * j);
    if (j % 2 == 0) {
      job.duration.reset();
      job.iterations = 5 + j;
      job.memory_per_gpu = Bytes{100};
    }
    job.name = std::to_string(j);
    workload.jobs.push_back(job);
  }
  PolicySet policies = policies_of({}, {});
  policies.placement = std::make_unique<AnyGpus>();
  SimulationOptions options;
  options.leap = false;
  Simulation simulation{cluster(kJobs / 4, 4), workload, std::move(policies),
                        std::make_unique<FixedNetwork>(1, kJobs / 4, kJobs), std::move(options)};
  const RunResult result = simulation.run();
  for (int j = 0; j < kJobs; ++j) {
    const Time takes = Time::nanoseconds(j % 2 == 0 ? 10 * (5 + j) : 100 + 3 * j);
    CHECK(result.jobs[static_cast<std::size_t>(j)].finish == Time::nanoseconds(j % 7) + takes);
  }
}
