// Jobs that go on without GPUs that have failed, against closed forms of units with repair.

#include "sim/statistics.hpp"
#include "validate/faults/faults_suite.hpp"
#include "validate/faults/interrupted_jobs.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kFails_h = 100, kRepair_h = 10;

std::string keys(const std::string& redundancy) {
  return fmt::format(
      "failures: {{components: [{{name: node, of: server, fails: {{mean: {}h}}, repair: {{mean: {}h}}}}], "
      "redundancy: {{{}}}}}\n",
      kFails_h, kRepair_h, redundancy);
}

InterruptedJobs jobs_of(int gpus, int jobs, int servers, std::int64_t work_h, const std::string& redundancy) {
  InterruptedJobs what;
  what.servers = servers;
  what.jobs = jobs;
  what.gpus = gpus;
  what.work = Time::seconds(work_h * 3600);
  what.keys = keys(redundancy);
  return what;
}

}  // namespace

CheckedTable faults_redundancy() {
  CheckedTable table;
  table.title =
      "Jobs that go on without some of their GPUs: units that fail after 100 h and are repaired in 10 h on average";
  // Each of n replicas is up for 10/11 of the time, and they do what is left of the work. That all n are out doesn't
  // happen. The begin, with all of them up, is short.
  const RunResult wide = run_interrupted(jobs_of(16, 20, 400, 20'000, "cover: replicas"), 1);
  table.checks.push_back({"16 replicas: speed, the share of them that works",
                          kFails_h / (kFails_h + kRepair_h),
                          effective_share(wide),
                          0.005,
                          {}});
  // Two units: both are out after (3 l + m) / (2 l^2), with the rates l of failures and m of repairs.
  constexpr double kRate = 1 / kFails_h, kRepairs = 1 / kRepair_h;
  constexpr double kBoth_h = (3 * kRate + kRepairs) / (2 * kRate * kRate);
  for (const char* const cover : {"cover: replicas", "cover: neighbours, stages: 2"}) {
    const RunResult pairs = run_interrupted(jobs_of(2, 100, 400, 40'000, cover), 2);
    const Summary summary = summarise(pairs);
    table.checks.push_back({fmt::format("hours until both of two are out, {}", cover),
                            kBoth_h,
                            summary.interruption_mean_s / 3600,
                            3 / std::sqrt(summary.interruptions),
                            {}});
  }
  return table;
}

}  // namespace contend
