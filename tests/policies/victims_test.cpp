// Which running jobs give way where the placement policy needs whole servers.

#include "policies/scheduling/walk_policy.hpp"
#include "sim/error.hpp"
#include "tests/policies/policy_kit.hpp"
#include "tests/policies/scheduling_kit.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/test_kit.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

JobSpec of_priority(JobSpec job, int priority) {
  job.priority = priority;
  return job;
}

Played play_consolidated(const Choice& scheduling, int servers, std::vector<JobSpec> jobs,
                         const SchedulingRules& rules = {}) {
  return play(scheduling, {servers, 4, Bytes{100}}, std::move(jobs), placement({"consolidated", {}}), rules);
}

/// A job is more urgent while it waits than while it runs, as one of which less would remain on faster servers.
class MoreUrgentWaiting final : public WalkPolicy {
 public:
  explicit MoreUrgentWaiting(std::vector<std::pair<int, int>> keys) : keys_{std::move(keys)} {}

 private:
  Rank waiting_rank(WalkJob& job) override { return rank(job, keys_[job.view.id.index()].first); }
  MovingRank running_rank(WalkJob& /*job*/, const Rank& waiting) override { return {waiting, 0}; }
  void before_walks(const ClusterView& /*cluster*/) override {
    for_each_job([this](WalkJob& job) {
      if (job.running) rerank(job, {rank(job, keys_[job.view.id.index()].second), 0});
    });
  }
  [[nodiscard]] static Rank rank(const WalkJob& job, int key) { return {key, 0, job.view.tie, job.view.id}; }

  std::vector<std::pair<int, int>> keys_;  // by job: while it waits, while it runs
};

const Choice kPriority{"priority", {{"preemptive", true}}};

}  // namespace

TEST_CASE("an urgent gang takes a server, and the jobs elsewhere stay") {
  // Two servers of 4 GPUs: A 3 + C 1, B 3 + D 1. By number of GPUs the jobs submitted last, C and D, would give way,
  // and B, which frees no server for E.
  std::vector<JobSpec> jobs{timed_job(0, 3, 1000), timed_job(0, 3, 1000), timed_job(0, 1, 1000), timed_job(0, 1, 1000),
                            of_priority(timed_job(10, 4, 10), 9)};
  const Played played = play_consolidated(kPriority, 2, jobs);
  CHECK(played.faults.empty());
  CHECK(played.finishes() == "A1000 B1010 C1000 D1010 E20");
  CHECK(played.preemptions() == "B1 D1");
}

TEST_CASE("every preemptive policy starts the job for which it preempts others") {
  const std::vector<Choice> policies{kPriority,
                                     {"srtf", {{"rewalk", true}}},
                                     {"srsf", {{"rewalk", true}}},
                                     {"srtf", {{"preemptive", true}}},
                                     {"las", {}},
                                     {"dlas-gpu", {}},
                                     {"gittins", {}}};
  for (const Choice& policy : policies) {
    INFO(policy.name);
    std::vector<JobSpec> jobs;
    for (int j = 0; j < 16; ++j) jobs.push_back(timed_job(0, 1, 20'000));
    jobs.push_back(of_priority(timed_job(5'000, 4, 10), 9));
    const Played played = play_consolidated(policy, 4, jobs);
    CHECK(played.result.jobs[16].finish == Time::seconds(5'010));
    CHECK(played.total_preemptions() >= 4);
    // Each preemption is followed, at its instant, by a start on some of the GPUs.
    for (const Hold& hold : played.runs) {
      if (hold.end == played.result.jobs[hold.job.index()].finish) continue;
      const bool is_taken = std::any_of(played.runs.begin(), played.runs.end(), [&](const Hold& next) {
        return next.start == hold.end && std::any_of(next.gpus.begin(), next.gpus.end(), [&](GpuId gpu) {
                 return std::find(hold.gpus.begin(), hold.gpus.end(), gpu) != hold.gpus.end();
               });
      });
      CHECK(is_taken);
    }
  }
}

TEST_CASE("nobody gives way to a job that would have no place all the same") {
  // A and B are more urgent than E and hold three GPUs of each server, so no server can be emptied for E.
  std::vector<JobSpec> jobs{of_priority(timed_job(0, 3, 2000), 9), of_priority(timed_job(0, 3, 3000), 9),
                            timed_job(0, 1, 1000), timed_job(0, 1, 1000), of_priority(timed_job(10, 4, 10), 5)};
  const Played played = play_consolidated(kPriority, 2, jobs);
  CHECK(played.total_preemptions() == 0);
  CHECK(played.result.jobs[4].start == Time::seconds(2000));
}

TEST_CASE("the server whose jobs lose the least work is emptied") {
  // Checkpoints every 100 s. At 250 the job on the first server has lost 50 s x 4 GPUs; the one that was submitted at
  // 60 has done 190, and lost 90 s x 4.
  SchedulingRules rules;
  rules.preemption.checkpoint_interval = Time::seconds(100);
  std::vector<JobSpec> jobs{timed_job(0, 4, 1000), timed_job(60, 4, 1000), of_priority(timed_job(250, 4, 10), 9)};
  CHECK(play_consolidated(kPriority, 2, jobs, rules).preemptions() == "A1");
  jobs[1].submit = Time::seconds(145);  // 105 done, 5 lost
  CHECK(play_consolidated(kPriority, 2, jobs, rules).preemptions() == "B1");
}

TEST_CASE("a run in which preemptions undo all work stops and names the cause") {
  // Twelve gangs of 8 GPUs on four servers change places every 100 s, and a checkpoint needs 600 s of work.
  SchedulingRules rules;
  rules.preemption = {Time::seconds(30), Time::seconds(600), Time{}};
  const auto message = [&](double slice_s) -> std::string {
    try {
      const std::vector<JobSpec> jobs(12, timed_job(0, 8, 100'000));
      const Played played = play_consolidated({"las", {{"slice_s", slice_s}}}, 4, jobs, rules);
      return fmt::format("{} finished", std::ranges::count(played.result.jobs, JobState::finished, &JobResult::state));
    } catch (const InputError& error) {
      return error.what();
    }
  };
  CHECK(message(800).starts_with("scheduling policy `las`: the last 10000 preemptions, until "));
  CHECK(message(80'000) == "12 finished");
}

TEST_CASE("a job that the placement policy can never hold fails, and holds back nobody") {
  ClusterSpec cluster{2, 8, Bytes{100}};
  cluster.milli_cpus = 96'000;
  JobSpec greedy = timed_job(0, 8, 100);
  greedy.milli_cpus = 15'000;  // 6 ranks a server
  const std::vector<JobSpec> jobs{greedy, timed_job(1, 4, 100)};
  const Played whole = play({"fifo", {}}, cluster, jobs, placement({"consolidated", {}}));
  CHECK(whole.result.jobs[0].state == JobState::failed);
  CHECK(
      whole.result.jobs[0].reason ==
      "has no place under the placement policy `any-gpus`, not even in the empty cluster: the CPUs of a server suffice "
      "for 6 of its 8 GPUs");
  CHECK(whole.result.jobs[1].finish == Time::seconds(101));
  const Played scattered = play({"fifo", {}}, cluster, jobs, placement({"first-fit", {}}));
  CHECK(scattered.result.jobs[0].finish == Time::seconds(100));
}

TEST_CASE("of a server's jobs only those leave whose GPUs are needed") {
  std::vector<JobSpec> jobs{timed_job(0, 1, 1000), timed_job(0, 1, 1000), timed_job(0, 2, 1000),
                            of_priority(timed_job(10, 2, 10), 9)};
  CHECK(play_consolidated(kPriority, 1, jobs).total_preemptions() == 1);
}

TEST_CASE("a job that gave way takes the place of a job behind it at once") {
  // At 100 s E empties a server for itself. A, of priority 4, gives way and takes the two GPUs of D, of priority 2.
  std::vector<JobSpec> jobs{of_priority(timed_job(0, 2, 1000), 4), of_priority(timed_job(1, 2, 1000), 1),
                            of_priority(timed_job(2, 2, 1000), 4), of_priority(timed_job(3, 2, 1000), 2),
                            of_priority(timed_job(100, 4, 500), 5)};
  const Played played = play_consolidated(kPriority, 2, jobs);
  CHECK(played.result.jobs[4].start == Time::seconds(100));
  CHECK(played.result.jobs[0].waited == Time{});
  CHECK(played.result.jobs[2].waited == Time{});
}

TEST_CASE("of servers that cost the same the one gives way whose foremost job stands furthest back") {
  // Server 0: A (4) and B (1); server 1: C (3) alone. By their least urgent job B's server would be emptied.
  std::vector<JobSpec> jobs{of_priority(timed_job(0, 2, 1000), 4), of_priority(timed_job(0, 2, 1000), 1),
                            of_priority(timed_job(1, 4, 1000), 3), of_priority(timed_job(100, 4, 500), 5)};
  const Played played = play_consolidated(kPriority, 2, jobs);
  CHECK(played.preemptions() == "C1");
}

TEST_CASE("edf: no job starts in front of one that has just given way and has an earlier deadline") {
  // 2 servers of 2 GPUs, worst-fit, which has a job on one server. 0: X(1,100) takes server 0, V(1,50) server 1. 10:
  // J(2,20) takes server 1 from V, and V goes to the free GPU of server 0. B(1,30) has none until J ends at 30.
  ClusterSpec cluster;
  cluster.servers = 2;
  cluster.gpus_per_server = 2;
  cluster.gpu_memory = Bytes{1};
  std::vector<JobSpec> jobs = {timed_job(0, 1, 100), timed_job(0, 1, 50), timed_job(10, 2, 20), timed_job(10, 1, 30)};
  const std::vector<std::int64_t> deadlines = {400, 900, 500, 1000};
  for (std::size_t j = 0; j < jobs.size(); ++j) jobs[j].deadline = Time::seconds(deadlines[j]);
  const Played played = play({"edf", {{"preemptive", true}}}, cluster, jobs, placement({"worst-fit", {}}));
  CHECK(played.preemptions() == "B1");  // V
  CHECK(holds(played) == "A1 0-100, B1 0-10, C2 10-30, B1 10-50, D1 30-60");
}

TEST_CASE("a job that gave way and is more urgent while it waits takes nothing back at that instant") {
  // One GPU. 10: B, of key 10, takes it from A, of key 20 while it runs. A, of key 5 while it waits, takes it back at
  // the next event, when C arrives at 15 s, and not before B has run.
  Workload workload;
  for (const auto& [submit, duration] : {std::pair{0, 100}, std::pair{10, 10}, std::pair{15, 1}})
    workload.jobs.push_back(timed_job(submit, 1, duration));
  for (std::size_t j = 0; j < 3; ++j) workload.jobs[j].name = std::string(1, static_cast<char>('A' + j));
  PolicySet policies = policies_of({}, {});
  policies.placement = placement({"first-fit", {}});
  policies.scheduling = std::make_unique<MoreUrgentWaiting>(std::vector{std::pair{5, 20}, {10, 10}, {50, 50}});
  Simulation simulation{{1, 1, Bytes{100}}, workload, std::move(policies), std::make_unique<FixedNetwork>(1, 1, 3), {}};
  Played played;
  played.result = simulation.run();
  CHECK(played.finishes() == "A105 B110 C111");
  CHECK(played.preemptions() == "A1 B1");
}
