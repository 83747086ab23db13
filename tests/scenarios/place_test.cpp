// Jobs that name their GPUs in the job list: what is refused, and when and where they run.
#include "results/wait_recorder.hpp"
#include "scenarios/run/explain_job.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// Two servers of four GPUs.
struct PlacedJobs : ListedJobs {
  explicit PlacedJobs(const std::string& rows, const std::string& policy = "fifo", const std::string& vcs = "",
                      const std::string& header = "job_id,submit_s,gpus,duration_s,place",
                      const std::string& more = "") {
    scenario =
        parsed(fmt::format("cluster: {{servers: 2, gpus_per_server: 4{}}}\nnetwork: {{nic: 10Gbps}}\n"
                           "policies: {{scheduling: {}, placement: first-fit}}\nworkload: {{jobs: {}}}\n{}",
                           vcs, policy, file("jobs.csv", header + "\n" + rows), more));
  }
  [[nodiscard]] std::vector<std::int64_t> starts() const {
    std::vector<std::int64_t> all;
    for (const JobResult& job : run_scenario(scenario, 1).jobs) all.push_back(job.start.ns() / 1'000'000'000);
    return all;
  }
};

/// Remembers the GPUs on which jobs started last.
class Starts final : public DecisionObserver {
 public:
  void queued(Time, JobId) override {}
  void started(Time, JobId job, std::span<const GpuId> gpus, Time) override {
    for (const GpuId gpu : gpus) by_job[job.value()].push_back(gpu.value());
  }
  void preempted(Time, JobId, JobId) override {}
  void ended(Time, JobId, bool) override {}
  void rejected(Time, JobId, std::string_view) override {}
  void blocked(Time, JobId, Why, JobId) override {}
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_job;
};

}  // namespace

TEST_CASE("place: ranks run on the GPUs in the order in which they are named") {
  const PlacedJobs jobs{"a,0,3,10,server1:2-3;server0:1\nb,0,4,10,server0\nc,0,2,10,\n", "fit-first"};
  Starts starts;
  RunHooks hooks;
  hooks.decisions = &starts;
  const RunResult run = run_scenario(jobs.scenario, 1, hooks);
  CHECK(starts.by_job[0] == std::vector<std::uint32_t>{6, 7, 1});
  CHECK(starts.by_job[1] == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(starts.by_job[2] == std::vector<std::uint32_t>{0, 2});  // the first that are free while a runs
  CHECK(run.jobs[0].servers == 2);
  CHECK(run.jobs[1].start == Time::seconds(10));
}

TEST_CASE("place: policies that choose servers themselves keep jobs to their GPUs") {
  // x has GPUs of server 1, and z waits for them though two others are free there. y waits for a on server 0.
  for (const char* const policy : {"gandiva", "antman"}) {
    CAPTURE(policy);
    const PlacedJobs jobs{"a,0,2,50,\nx,1,2,50,server1:0;server1:3\ny,2,4,50,server0\nz,3,2,20,server1:0;server1:3\n",
                          policy, "", "job_id,submit_s,gpus,duration_s,place",
                          "scheduling: {sharing: {law: factor}}\n"};
    Starts starts;
    RunHooks hooks;
    hooks.decisions = &starts;
    const RunResult run = run_scenario(jobs.scenario, 1, hooks);
    CHECK(starts.by_job[1] == std::vector<std::uint32_t>{4, 7});
    CHECK(starts.by_job[2] == std::vector<std::uint32_t>{0, 1, 2, 3});
    CHECK(starts.by_job[3] == std::vector<std::uint32_t>{4, 7});
    CHECK(run.jobs[2].start == Time::seconds(50));
    CHECK(run.jobs[3].start == Time::seconds(51));
  }
}

TEST_CASE("place: a guaranteed job of antman shares its own GPUs, not those that are used least") {
  const PlacedJobs jobs{"b,0,4,50,server1,0\nhi,4,4,20,server1,1\n", "antman", "",
                        "job_id,submit_s,gpus,duration_s,place,priority", "scheduling: {sharing: {law: factor}}\n"};
  Starts starts;
  RunHooks hooks;
  hooks.decisions = &starts;
  const RunResult run = run_scenario(jobs.scenario, 1, hooks);
  CHECK(starts.by_job[1] == std::vector<std::uint32_t>{4, 5, 6, 7});
  CHECK(run.jobs[1].start == Time::seconds(4));
  CHECK(run.jobs[0].preemptions == 0);
}

TEST_CASE("place: a job waits for its GPUs, others pass if the policy lets them, and equal demands are not alike") {
  const std::string rows =
      "long,0,4,100,\nplaced,1,2,50,server0:0-1\nfree,2,2,60,\nalike,3,2,50,server0:0-1\nlater,4,2,50,server1:2-3\n";
  // Free first-come order: `placed` waits until `long` ends, `free` goes to server 1, `later` beside it.
  CHECK(PlacedJobs{rows, "fit-first"}.starts() == std::vector<std::int64_t>{0, 100, 2, 150, 4});
  // In strict order nobody passes.
  CHECK(PlacedJobs{rows}.starts() == std::vector<std::int64_t>{0, 100, 100, 150, 150});
}

TEST_CASE("place: an explanation names the job that holds the place") {
  const PlacedJobs jobs{"long,0,4,100,\nplaced,1,2,50,server0:0-1\n", "fit-first"};
  const ExplainedJob placed = explain_job(jobs.scenario, 1, "placed");
  REQUIRE(placed.explanation.waits.size() == 1);
  CHECK(placed.explanation.waits[0].why == Why::place_taken);
  CHECK(placed.explanation.waits[0].by == JobId{0U});
  CHECK(placed.explanation.waits[0].length() == Time::seconds(99));
  CHECK(std::string{cause_name(placed.explanation.waits[0].why)} == "place_taken");
}

TEST_CASE("place: only who holds the place is preempted for it, and comes back to its own") {
  const std::string rows = "first,0,4,200,server0\nsecond,0,4,90,server1\nplaced,10,2,5,server1:0-1\n";
  for (const char* const policy : {"{policy: srtf, preemptive: true}", "{policy: srtf, rewalk: true}"}) {
    const PlacedJobs jobs{rows, policy};
    const RunResult run = run_scenario(jobs.scenario, 1);
    CHECK(run.jobs[2].start == Time::seconds(10));
    CHECK(run.jobs[0].preemptions == 0);  // though it has most left to do
    CHECK(run.jobs[1].preemptions == 1);
    CHECK(run.jobs[1].finish == Time::seconds(95));
  }
  // Without preemption it waits, whatever plans ahead.
  for (const char* const policy : {"easy", "conservative", "las", "drf"})
    CHECK(PlacedJobs{rows, policy}.starts()[2] == 90);
}

TEST_CASE("place: jobs that train communicate from where they are put") {
  const std::string header = "job_id,submit_s,gpus,model,iterations,place";
  const auto communication = [&](const char* place) {
    const PlacedJobs jobs{fmt::format("a,0,2,resnet50,100,{}\n", place), "fifo", "", header};
    return run_scenario(jobs.scenario, 1).jobs[0].communication;
  };
  CHECK(communication("server0:0-1") == Time{});
  CHECK(communication("server0:0;server1:0") > Time{});
}

TEST_CASE("place: what the cluster does not have is refused with its row") {
  CHECK(PlacedJobs{"a,0,4,10,server2\nb,0,2,10,server1:3-4\nc,0,3,10,server0:0-1\nd,0,2,10,server0:1;server0:1\n"
                   "e,0,8,10,server0;server1\n"}
            .refusals() ==
        "jobs.csv:2: place: the cluster has no server2; its 2 servers are numbered from 0\n"
        "jobs.csv:3: place: server1 has no GPU 4; its 4 GPUs are numbered from 0\n"
        "jobs.csv:4: place: expected as many GPUs as `gpus` says, 3, got 2\n"
        "jobs.csv:5: place: GPU 1 of server0 is named twice\n");
  CHECK(PlacedJobs{"a,0,4,10,server0;server1:0-3;server1\n"}.refusals() ==
        "jobs.csv:2: place: expected as many GPUs as `gpus` says, 4, got 12\n");
  const PlacedJobs owned{"a,0,2,10,server1:0-1,mine\nb,0,2,10,server0:0-1,mine\n", "fifo",
                         ", vcs: [{name: mine, servers: 1}]", "job_id,submit_s,gpus,duration_s,place,vc"};
  CHECK(owned.refusals() == "jobs.csv:2: place: job \"a\" may not use server1, which isn't of its virtual cluster\n");
  const RunResult run = run_scenario(owned.scenario, 1);
  CHECK(run.jobs[0].state == JobState::failed);
  CHECK(run.jobs[1].state == JobState::finished);
}
