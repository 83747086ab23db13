// Meta's research clusters (arXiv 2410.21680) and the 54 days of Llama 3 (arXiv 2407.21783, table 5).

#include "validate/faults/faults_suite.hpp"
#include "validate/faults/interrupted_jobs.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::int64_t kDay_s = 86'400;
constexpr int kSpares = 40;

/// One job on so many servers, with spares that are never used up.
InterruptedJobs one_job(int servers, int gpus_of_server, std::int64_t days, std::string keys) {
  InterruptedJobs what;
  what.servers = servers + kSpares;
  what.gpus_per_server = gpus_of_server;
  what.gpus = gpus_of_server * servers;
  what.work = Time::seconds(days * kDay_s);
  what.keys = std::move(keys);
  return what;
}

std::string rsc_keys(std::string_view checkpoints) {
  return fmt::format("failures: {{preset: rsc-1, repair: {{mean: 6h}}, spares: {}}}\ncheckpoints: {{{}}}\n", kSpares,
                     checkpoints);
}

}  // namespace

CheckedTable faults_rsc() {
  CheckedTable table;
  table.title = "Meta's RSC-1: 6.50 failures of hardware in 1,000 server-days";
  struct Size {
    int servers;
    double model_h;
    std::int64_t days;
  };
  // The paper's model, 24 / (servers x 6.50e-3) hours.
  for (const Size& size : {Size{128, 28.846, 5'000}, Size{512, 7.2115, 1'200}, Size{2048, 1.8029, 300}}) {
    const RunResult result = run_interrupted(one_job(size.servers, 1, size.days, rsc_keys("restart_cost: 5min")), 1);
    const JobResult& job = result.jobs[0];
    const double mean_h = job.held.to_seconds() / 3600 / job.interruptions;
    table.checks.push_back(
        {fmt::format("{} GPUs: hours to an interruption, model", 8 * size.servers), size.model_h, mean_h, 0.05, {}});
    if (size.servers == 128)
      table.checks.push_back({"1024 GPUs: hours to an interruption, measured", 7.9, mean_h, 0.1, {}});
  }
  const auto effective = [](std::string_view checkpoints) {
    return effective_share(run_interrupted(one_job(2048, 1, 400, rsc_keys(checkpoints)), 1));
  };
  table.checks.push_back({"16384 GPUs: effective, a checkpoint each 5 min",
                          0.9307,
                          effective("policy: synchronous, period: 5min, restart_cost: 5min"),
                          0.01,
                          {}});
  table.checks.push_back({"16384 GPUs: effective, a checkpoint each hour",
                          0.6764,
                          effective("policy: synchronous, period: 1h, restart_cost: 5min"),
                          0.01,
                          {}});
  return table;
}

CheckedTable faults_llama() {
  constexpr int kRuns = 5;
  constexpr double kDays = 54;
  CheckedTable table;
  table.title = "Llama 3 405B: 54 days on 16,384 GPUs, 419 unexpected interruptions, more than 90% effective";
  const auto row = [&](int restart_min, double tolerance) {
    double interruptions = 0, effective = 0;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
      // The run ends after 54 days; the job would go on.
      const RunResult result = run_interrupted(
          one_job(
              2048, 8, 100,
              fmt::format("failures: {{preset: llama-3, repair: {{mean: 6h}}, spares: {}}}\nengine: {{until: 54d}}\n"
                          "checkpoints: {{policy: synchronous, period: optimal, cost: 10s, restart_cost: {}min}}\n",
                          kSpares, restart_min)),
          seed);
      interruptions += result.jobs[0].interruptions / double{kRuns};
      effective += result.jobs[0].useful().to_seconds() / (kDays * kDay_s) / kRuns;
    }
    table.checks.push_back({fmt::format("interruptions, restart {} min", restart_min), 419, interruptions, 0.07, {}});
    table.checks.push_back({fmt::format("effective, restart {} min", restart_min), 0.90, effective, tolerance, {}});
  };
  row(5, kOnlyShown);
  row(20, kOnlyShown);
  table.notes.push_back(
      "the paper states neither the restart nor the checkpoints: 10 s each, at the optimal period, are an assumption, "
      "and "
      "5 and 20 min are the ends of Meta's range");
  return table;
}

}  // namespace contend
