// Jobs that have to lie in a rack: refusals, when and where they start under policies that plan, and why they
// wait.
#include "policies/registry.hpp"
#include "results/wait_recorder.hpp"
#include "scenarios/run/explain_job.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// Two racks of two servers of four GPUs.
struct RackJobs : ListedJobs {
  explicit RackJobs(const std::string& rows, const std::string& policy = "fifo", const std::string& more = "",
                    const std::string& header = "job_id,submit_s,gpus,duration_s,limit_s,place,required_level") {
    scenario =
        parsed(fmt::format("cluster: {{servers: 4, gpus_per_server: 4, levels: [{{name: rack, servers: 2}}]}}\n"
                           "network: {{nic: 10Gbps}}\npolicies: {{scheduling: {}, placement: consolidated}}\n"
                           "workload: {{jobs: {}{}}}\n",
                           policy, file("jobs.csv", header + "\n" + rows), more));
  }
  [[nodiscard]] std::vector<std::int64_t> starts_in_racks() const {
    std::vector<std::int64_t> all;
    for (const JobResult& job : run_scenario(scenario, 1).jobs) all.push_back(job.start.ns() / 1'000'000'000);
    return all;
  }
};

// a holds server 0 until 100 and b holds server 2 until 200. From 1 s on eight GPUs are free, on servers 1 and 3, but
// big needs a rack: rack 0 at 100. c would run to 1002 and d to 93, with four GPUs each.
const std::string kRackRows =
    "a,0,4,100,100,server0,\nb,0,4,200,200,server2,\nbig,1,8,50,50,,rack\nc,2,4,1000,1000,,\nd,3,4,90,90,,\n";

}  // namespace

TEST_CASE("levels: plans keep a place in a rack for a gang that must stay in one") {
  // First come, first served: c waits behind big, and starts when big has started, on server 3; d waits for big's end.
  CHECK(RackJobs{kRackRows}.starts_in_racks() == std::vector<std::int64_t>{0, 0, 100, 100, 150});
  // Without reservations c takes server 1, the first one, and d server 3 until 93. So rack 1 is free at 200.
  CHECK(RackJobs{kRackRows, "fit-first"}.starts_in_racks() == std::vector<std::int64_t>{0, 0, 200, 2, 3});
  // big has servers 0 and 1 from 100 on: c must take server 3, and d ends on server 1 before that.
  for (const char* const policy :
       {"easy", "conservative",
        "{policy: slurm-backfill, bf_interval_s: 0, bf_resolution_s: 1, batch_sched_delay_s: 0}"}) {
    CAPTURE(policy);
    CHECK(RackJobs{kRackRows, policy}.starts_in_racks() == std::vector<std::int64_t>{0, 0, 100, 2, 3});
  }
}

TEST_CASE("levels: gandiva puts gangs into racks") {
  // a has server 0 until 300. r has rack 1 at once. q has no room in a rack, so it goes to rack 0, and moves to rack 1
  // when r ends.
  CHECK(
      RackJobs{"a,0,4,300,,,\nr,1,8,60,,,rack\nq,2,8,60,,,rack\n", "gandiva", "}\nscheduling: {sharing: {law: factor}"}
          .starts_in_racks() == std::vector<std::int64_t>{0, 1, 61});
}

TEST_CASE("levels: an explanation says that a job waits for a rack though enough GPUs are free") {
  const RackJobs jobs{kRackRows};
  const ExplainedJob big = explain_job(jobs.scenario, 1, "big");
  CHECK(big.level.required == "rack");
  REQUIRE(big.explanation.waits.size() == 1);
  CHECK(big.explanation.waits[0].why == Why::no_domain);
  CHECK(big.explanation.waits[0].length() == Time::seconds(99));
  CHECK(std::string{cause_name(big.explanation.waits[0].why)} == "no_domain");
}

TEST_CASE("levels: what no rack can hold is refused with its row") {
  CHECK(RackJobs{"a,0,12,10,10,,rack\nb,0,8,10,10,,rack\nc,0,16,10,10,,\n"}.refusals() ==
        "jobs.csv:2: gpus: job \"a\" needs 12 GPUs in one rack, the largest rack has 8\n");
  CHECK(RackJobs{"a,0,4,10,10,,rak\n"}.refusals() ==
        "cluster.levels: jobs ask for the level `rak`, which is not there; did you mean \"rack\"?\n");
  const std::string header = "job_id,submit_s,gpus,duration_s,segment_gpus,segment_level";
  CHECK(RackJobs{"a,0,16,10,8,rack\nb,0,12,10,6,rack\nc,0,14,10,7,rack\nd,0,15,10,5,rack\n", "fifo", "", header}
            .refusals() ==
        "jobs.csv:5: gpus: job \"d\" needs 15 GPUs in segments of 5, each in one rack, and there is no room for so "
        "many\n");
}

TEST_CASE("levels: a level for all jobs whose list names none, and levels from the network") {
  const std::string rows = "a,0,4,100,,server0,\nb,0,4,200,,server2,\nbig,1,8,50,,,\n";
  CHECK(RackJobs{rows}.starts_in_racks() == std::vector<std::int64_t>{0, 0, 1});
  CHECK(RackJobs{rows, "fifo", ", level: {required: rack}"}.starts_in_racks() == std::vector<std::int64_t>{0, 0, 100});
  CHECK(RackJobs{rows, "fifo", ", level: {preferred: rack}"}.starts_in_racks() == std::vector<std::int64_t>{0, 0, 1});
  // Leaves of two servers are the racks.
  RackJobs flow{rows, "fifo", ", level: {required: rack}"};
  flow.scenario = parsed(fmt::format(
      "cluster: {{servers: 4, gpus_per_server: 4, levels: [{{name: rack}}]}}\n"
      "network: {{nic: 10Gbps, fidelity: flow, fabric: {{kind: leaf-spine, servers_per_leaf: 2, spines: 2}}}}\n"
      "policies: {{scheduling: fifo, placement: consolidated}}\nworkload: {{jobs: {}, level: {{required: rack}}}}\n",
      flow.folder.path("jobs.csv")));
  CHECK(flow.starts_in_racks() == std::vector<std::int64_t>{0, 0, 100});
}

TEST_CASE("levels: every scheduling policy keeps jobs in the racks that they require") {
  // The engine throws PolicyError if a job starts outside of the level that it requires.
  std::string rows;
  for (int j = 0; j < 40; ++j)
    rows += fmt::format("j{},{},{},{},{}\n", j, 7 * j, 1 + j * 5 % 8, 20 + j * 37 % 90, j % 3 == 0 ? "" : "rack");
  const std::string header = "job_id,submit_s,gpus,duration_s,required_level";
  for (const auto& row : scheduling_policies()) {
    if (row.is_outside || row.shares == GpuShares::by_profile) continue;
    CAPTURE(row.name);
    RackJobs jobs{rows, "fifo", "", header};
    jobs.scenario = parsed(fmt::format(
        "cluster: {{servers: 4, gpus_per_server: 4, levels: [{{name: rack, servers: 2}}]}}\nnetwork: {{nic: 10Gbps}}\n"
        "policies: {{scheduling: {}, placement: consolidated}}\nworkload: {{jobs: {}}}\n{}",
        row.name, jobs.folder.path("jobs.csv"),
        row.shares == GpuShares::none ? "" : "scheduling: {sharing: {law: factor, factor: 1.5}}\n"));
    const RunResult run = jobs.run();
    for (const JobResult& job : run.jobs) CHECK(job.finish < Time::never());
  }
}
