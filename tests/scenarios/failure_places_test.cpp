// Failures in clusters whose servers differ, by type and by owner.

#include "models/reliability/checkpoint_period.hpp"
#include "scenarios/keys/key_tables.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/run/scenario_failures.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("the optimal period goes by the servers of the type on which a job runs") {
  // 8 GPUs are one server of type big and four of type small. Each fails 6.5 times in 1,000 days.
  const TemporaryFolder folder;
  write_file(folder.path("jobs.csv"),
             "job_id,submit_s,gpus,duration_s,gpu_type\nbig,0,8,100,big\nsmall,0,8,100,small\nany,0,8,100,\n");
  const Scenario scenario = parsed(
      "cluster: {types: [{name: big, servers: 2, gpus_per_server: 8}, {name: small, servers: 4, gpus_per_server: 2}]}\n"
      "failures: {preset: rsc-1, repair: {mean: 6h}}\n"
      "checkpoints: {policy: synchronous, period: optimal, cost: 1min}\n"
      "workload: {jobs: " +
      folder.path("jobs.csv") + "}\n");
  const Workload workload = scenario_workload(scenario, 1);
  const auto costs = costs_by_job(cluster_spec(scenario.cluster, scenario.workload, workload), scenario.cluster,
                                  scenario.failures, scenario.checkpoints, workload);
  const auto period_s = [&](std::size_t job) { return costs(workload.jobs[job]).checkpoint_interval.to_seconds(); };
  const double server_s = 1000 / 6.5 * 86'400;
  CHECK(period_s(0) == near(optimal_period(60, server_s), 1e-9));
  CHECK(period_s(1) == near(optimal_period(60, server_s / 4), 1e-9));
  CHECK(period_s(2) == near(optimal_period(60, server_s), 1e-9));  // the first of two types that are as fast
}

TEST_CASE("spares belong to the owner of the last servers, who keeps one at least") {
  const std::string one = "cluster: {servers: 4, vcs: [{name: a, servers: 2}]}\n";
  const std::string all = "cluster: {servers: 4, vcs: [{name: a, servers: 2}, {name: b, servers: 2}]}\n";
  CHECK(errors_of(one + "failures: {spares: 1}\n").empty());
  CHECK(errors_of(all + "failures: {cold_spares: 1}\n").empty());
  CHECK(errors_of(one + "failures: {spares: 2}\n")
            .find("failures.spares: of 2 servers that no virtual cluster owns 2 would be spares") != std::string::npos);
  CHECK(errors_of(all + "failures: {cold_spares: 2}\n")
            .find("failures.cold_spares: of 2 servers of the virtual cluster `b` 2 would be spares") !=
        std::string::npos);
}
