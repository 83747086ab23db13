// Synchronous jobs whose ranks don't take equally long, in the engine: order statistics, a slow GPU, gradient codes.

#include "models/reliability/stragglers.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/scenario.hpp"
#include "validate/faults/faults_suite.hpp"
#include "validate/faults/interrupted_jobs.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// Seconds of an iteration of one job on `gpus` GPUs: one task of a second on each, and a barrier, which leaves `late`
/// of them behind.
double iteration_s(int gpus, std::int64_t iterations, const std::string& failures, int late = 0) {
  Workload workload;
  workload.graphs.push_back(graph_from_text(
      fmt::format("role worker {} | compute step worker 1000000000 | all-reduce barrier worker 1 | step -> barrier | "
                  "barrier => step",
                  gpus)));
  workload.graphs.back().leave_behind(RoleId{0U}, late);
  JobSpec job;
  job.name = "job";
  job.gpus = gpus;
  job.iterations = iterations;
  workload.jobs.push_back(std::move(job));
  // The barrier stays inside one server, where it takes no time.
  const Scenario scenario =
      parse_scenario(fmt::format("schema_version: 1\ncluster: {{servers: 1, gpus_per_server: {}}}\nfailures: {}\n"
                                 "policies: {{scheduling: fifo, placement: first-fit}}\n",
                                 gpus, failures),
                     "validate faults");
  const RunResult result = run_workload(scenario, std::move(workload), 1);
  return result.end.to_seconds() / static_cast<double>(iterations);
}

}  // namespace

CheckedTable faults_stragglers() {
  CheckedTable table;
  table.title = "Iterations of synchronous jobs with stragglers, beside closed forms";
  constexpr double kSigma = 0.1;
  for (const auto& [gpus, iterations, published] :
       {std::tuple{1, 40'000, 1.005013}, {8, 20'000, 1.15516}, {256, 2'000, 1.32772}}) {
    // The spread of the largest of many is smaller than the spread of one: the tolerance is four standard errors or
    // less.
    table.checks.push_back({fmt::format("log-normal, sigma 0.1: the slowest of {}", gpus),
                            published,
                            iteration_s(gpus, iterations, fmt::format("{{jitter: {}}}", kSigma)),
                            4 * kSigma / std::sqrt(static_cast<double>(iterations)),
                            {}});
  }
  for (const auto& [gpus, late, iterations] : {std::tuple{8, 1, 20'000}, {64, 4, 5'000}}) {
    table.checks.push_back({fmt::format("log-normal, sigma 0.1: {} of {}, {} left behind", gpus - late, gpus, late),
                            lognormal_wait(gpus, gpus - late, kSigma),
                            iteration_s(gpus, iterations, fmt::format("{{jitter: {}}}", kSigma), late),
                            4 * kSigma / std::sqrt(static_cast<double>(iterations)),
                            {}});
  }
  for (const int gpus : {2, 64}) {
    table.checks.push_back(
        {fmt::format("one GPU of {} takes 1.5 times as long", gpus),
         1.5,
         iteration_s(gpus, 10'000,
                     "{components: [{name: gpu, of: gpu, slows: 1.5, fails: {law: constant, mean: 1ns}, repair: {law: "
                     "constant, mean: 100d}}]}"),
         1e-6,
         {}});
  }
  table.checks.push_back({"exponential: the slowest of 8", 2.717857, exponential_wait(8, 8), 1e-6, {}});
  table.checks.push_back({"exponential: the slowest of 256", 6.124345, exponential_wait(256, 256), 1e-6, {}});
  table.checks.push_back({"exponential: 60 of 64, backup workers", 2.660558, exponential_wait(64, 60), 1e-6, {}});
  const auto load = [](GradientCode code, int stragglers, int burst, int window, int distinct) {
    return coding_load({code, 256, stragglers, burst, window, distinct});
  };
  table.checks.push_back(
      {"load of a worker of 256, GC(15)", 0.0625, load(GradientCode::gradient_coding, 15, 1, 2, 0), 1e-9, {}});
  table.checks.push_back({"load of a worker of 256, SR-SGC(2, 3, 23)",
                          0.050781,
                          load(GradientCode::selective_repeat, 0, 2, 3, 23),
                          1e-5,
                          {}});
  table.checks.push_back(
      {"load of a worker of 256, M-SGC(1, 2, 27)", 0.007543, load(GradientCode::multiplexed, 0, 1, 2, 27), 1e-4, {}});
  return table;
}

}  // namespace contend
