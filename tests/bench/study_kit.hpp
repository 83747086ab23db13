#pragma once
// What the benchmarks of whole runs share: the shipped study as a scenario, timed runs, medians.

#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/scenario.hpp"
#include "sim/result.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace contend::bench {

/// The cluster, network and job mix of scenarios/ada-srsf/base.yaml, spelt out so that a benchmark runs anywhere.
inline Scenario study(std::vector<std::string> overrides) {
  constexpr const char* kText = R"(
schema_version: 1
name: study
seed: 1
cluster: {servers: 16, gpus_per_server: 4, gpu_memory: 32768MiB}
network: {fidelity: contention, alpha: 0us, beta: 0.856ms/MiB, eta: 0.235ms/MiB}
policies: {scheduling: srsf, placement: {policy: lwf, kappa: 1}, communication: ada-dual}
workload:
  generate:
    models: [vgg16, resnet50, inception-v3, lstm]
    sizes: {1: 80, 2: 14, 4: 26, 8: 30, 16: 8, 32: 2}
    iterations: [1000, 6000]
    arrivals: 1200s
)";
  return parse_scenario(kText, "study", LoadOptions{std::move(overrides)});
}

/// Wall time is what a user waits for; the time on the processor is what other programs on the machine disturb less,
/// and what is compared.
struct Cost {
  double wall_s = 0;
  double cpu_s = 0;
};

struct TimedRun {
  RunResult result;
  Cost cost;
};

inline TimedRun timed_run(const Scenario& scenario, std::uint64_t seed, const RunHooks& hooks = {}) {
  TimedRun run;
  const auto wall = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  run.result = run_scenario(scenario, seed, hooks);
  run.cost.cpu_s = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  run.cost.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
  return run;
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

inline Cost median(const std::vector<Cost>& costs) {
  std::vector<double> wall, cpu;
  for (const Cost& cost : costs) {
    wall.push_back(cost.wall_s);
    cpu.push_back(cost.cpu_s);
  }
  return {median(std::move(wall)), median(std::move(cpu))};
}

}  // namespace contend::bench
