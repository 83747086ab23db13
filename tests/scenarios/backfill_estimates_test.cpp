// Backfilling over scenarios: what easy and conservative keep for a job holds on servers of any speed, and where
// scheduling passes come at multiples of a quantum.

#include "scenarios/run/explain_job.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

Scenario with_jobs(const TemporaryFolder& folder, const std::string& jobs, const std::string& keys) {
  write_file(folder.path("jobs.csv"), jobs);
  return parsed(keys + fmt::format("workload: {{jobs: {}}}\n", folder.path("jobs.csv")));
}

/// When the job starts, and when it was to start by the first reservation; never(): it had none.
struct Kept {
  Time first_plan = Time::never(), start{};
};
Kept kept_for(const Scenario& scenario, const std::string& job) {
  const ExplainedJob explained = explain_job(scenario, 1, job);
  Kept kept{.start = explained.result.jobs[explained.job.index()].start};
  for (const Reservations& each : explained.explanation.reservations) kept.first_plan = each.first.start;
  return kept;
}

}  // namespace

TEST_CASE("backfilling knows how fast the servers of a job are") {
  const TemporaryFolder folder;
  for (const char* policy : {"easy", "conservative"}) {
    INFO(policy);
    // a has done its 60 s of work after 120 s.
    const Scenario slow = with_jobs(
        folder, "job_id,submit_s,gpus,duration_s,gpu_type\na,0,2,60,slow\nb,1,2,10,slow\n",
        fmt::format(
            "cluster: {{types: [{{name: fast, servers: 1, gpus_per_server: 2, gpu_memory: 16GiB}}, {{name: slow, "
            "servers: 1, gpus_per_server: 2, gpu_memory: 16GiB, speed: 0.5}}]}}\n"
            "policies: {{scheduling: {}, placement: first-fit}}\n",
            policy));
    CHECK(kept_for(slow, "b").first_plan >= Time::seconds(120));
    CHECK(kept_for(slow, "b").first_plan <= Time::seconds(120) + Time::nanoseconds(1));
    CHECK(kept_for(slow, "b").start == Time::seconds(120));
    // a leaves server 1 at 30, when b is to have both servers of its type. c would hold one of them until 39.5.
    const Scenario fast = with_jobs(
        folder, "job_id,submit_s,gpus,duration_s,gpu_type\na,0,2,60,x\nb,1,4,10,x\nc,20,2,39,x\n",
        fmt::format("cluster: {{types: [{{name: y, servers: 1, gpus_per_server: 2, gpu_memory: 16GiB}}, {{name: x, "
                    "servers: 2, gpus_per_server: 2, gpu_memory: 16GiB, speed: 2}}]}}\n"
                    "policies: {{scheduling: {}, placement: first-fit}}\n",
                    policy));
    CHECK(kept_for(fast, "b").start == Time::seconds(30));
    CHECK(kept_for(fast, "c").start == Time::seconds(35));
  }
}

TEST_CASE("conservative plans with the passes that a quantum allows") {
  // j0 runs in [7, 59], and its GPUs have the next pass at 63. j2 has two of the others until 123, and j3 follows at
  // 126.
  const TemporaryFolder folder;
  const Scenario scenario =
      with_jobs(folder, "job_id,submit_s,gpus,duration_s\nj0,0.4,4,52\nj1,2.4,1,197\nj2,10.4,2,60\nj3,10.8,2,143.553\n",
                "cluster: {servers: 2, gpus_per_server: 2}\nscheduling: {quantum: 7s}\n"
                "policies: {scheduling: conservative, placement: first-fit}\n");
  CHECK(kept_for(scenario, "j2").first_plan == Time::seconds(63));
  CHECK(kept_for(scenario, "j3").first_plan == Time::seconds(126));
  CHECK(kept_for(scenario, "j3").start == Time::seconds(126));
}

TEST_CASE("no job starts later than its first reservation, whatever the speeds of servers and the quantum") {
  int plans = 0;
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{12}); ++seed) {
    RandomStream stream{seed, "backfill-estimates"};
    const auto pick = [&](const auto& all) {
      return all[static_cast<std::size_t>(stream.uniform_integer(0, static_cast<std::int64_t>(all.size()) - 1))];
    };
    std::string types;
    for (const char* name : {"a", "b", "c"})
      types += fmt::format("{{name: {}, servers: {}, gpus_per_server: 2, gpu_memory: 16GiB, speed: {}}}, ", name,
                           stream.uniform_integer(1, 2), pick(std::array{"0.5", "0.7", "1", "1.3", "2"}));
    std::string jobs = "job_id,submit_s,gpus,duration_s,gpu_type\n";
    double submit = 0;
    const auto count = static_cast<int>(stream.uniform_integer(5, 12));
    for (int j = 0; j < count; ++j) {
      submit += pick(std::array{0.4, 1.0, 5.0, 12.3, 30.0});
      jobs += fmt::format("j{},{:.1f},{},{},{}\n", j, submit, stream.uniform_integer(1, 2),
                          pick(std::array{10.0, 37.5, 60.0, 143.553}), pick(std::array{"a", "b", "c", ""}));
    }
    const std::string quantum = pick(std::array{"0s", "3s", "7s"});
    const TemporaryFolder folder;
    for (const char* policy : {"easy", "conservative"}) {
      const Scenario scenario = with_jobs(
          folder, jobs,
          fmt::format("cluster: {{types: [{}]}}\nscheduling: {{quantum: {}}}\n"
                      "policies: {{scheduling: {}, placement: {}}}\n",
                      types, quantum, policy, pick(std::array{"first-fit", "consolidated", "worst-fit", "spread"})));
      for (int j = 0; j < count; ++j) {
        const Kept kept = kept_for(scenario, fmt::format("j{}", j));
        INFO(fmt::format("seed {}, {}, quantum {}, j{}", seed, policy, quantum, j));
        if (kept.first_plan == Time::never()) continue;
        ++plans;
        CHECK(kept.start <= kept.first_plan);
      }
    }
  }
  CHECK(plans > effort(12));
}
