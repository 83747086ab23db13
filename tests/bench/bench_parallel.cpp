// What an iteration of a model on many GPUs costs: Llama 3 405B by tensor 8, pipeline 16 and more and more
// data-parallel ranks, which do the same and are simulated as one. Everything in one process on one core, in time of
// the processor, the least of fifteen; the network has the default fidelity, in which transfers meet. With few
// of them the run must end when it does GPU by GPU.

#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>

#include <sys/resource.h>

#include <fmt/format.h>

namespace {

using namespace contend;

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

Scenario scenario_of(int data) {
  const int gpus = 128 * data;
  return parse_scenario(
      fmt::format(
          "schema_version: 1\n"
          "cluster: {{servers: {}, gpus_per_server: 8, gpu_memory: 80GiB}}\n"
          "network: {{nic: 3200Gbps, alpha: 10us, inside: {{bandwidth: 3600Gbps, alpha: 5us}}}}\n"
          "training: {{m: {{model: llama-3-405b, device: H100-SXM, dtype: bf16, sequence: 8192, optimizer: adam, "
          "recompute: full, accumulate: 32, memory: 80GiB, parallel: {{tensor: 8, pipeline: 16, virtual: 4, "
          "schedule: interleaved, sequence_parallel: true, zero: 1}}}}}}\n"
          "workload: {{generate: {{models: [m], sizes: {{{}: 1}}, iterations: [1, 1], arrivals: 1ms}}}}\n",
          gpus / 8, gpus),
      "bench");
}

struct Cost {
  double plan = 0;       ///< to make the graph and the jobs
  double set_up = 0;     ///< to make the cluster, and to place and begin the job
  double iteration = 0;  ///< to execute the rest
  Time end;

  [[nodiscard]] double in_all() const { return plan + set_up + iteration; }
};

double run_for(const Scenario& scenario, Workload workload, Time* end = nullptr) {
  const double begin = processor_seconds();
  const RunResult result = run_workload(scenario, std::move(workload), 1);
  if (end != nullptr) *end = result.jobs.front().finish;
  return processor_seconds() - begin;
}

/// The least of some repetitions, since other programs share the machine.
Cost cost_of(int data) {
  constexpr int kRepetitions = 15;
  const Scenario scenario = scenario_of(data);
  Scenario beginning = scenario;
  beginning.engine.until = Time::milliseconds(2);  // the job begins within the first millisecond
  Cost cost;
  double least_in_all = 0;
  for (int i = 0; i < kRepetitions; ++i) {
    const double begin = processor_seconds();
    Workload workload = scenario_workload(scenario, 1);
    const double plan = processor_seconds() - begin;
    const double set_up = run_for(beginning, workload);
    const double all = run_for(scenario, std::move(workload), &cost.end);
    const auto keep = [&](double& least, double now) { least = i == 0 ? now : std::min(least, now); };
    keep(cost.plan, plan);
    keep(cost.set_up, set_up);
    keep(least_in_all, all);
  }
  cost.iteration = least_in_all - cost.set_up;
  return cost;
}

/// Event by event, with a cell for each GPU.
Time unfolded_end(int data) {
  Scenario scenario = scenario_of(data);
  scenario.engine.leap = false;
  return run_scenario(scenario, 1).jobs.front().finish;
}

}  // namespace

int main() {
  fmt::print(
      "one interleaved iteration of llama-3-405b, tensor 8, pipeline 16, 4 virtual stages, 32 micro-batches\n\n");
  fmt::print("{:>6} {:>8} {:>10} {:>12} {:>15} {:>12} {:>10} {:>14}\n", "data", "GPUs", "plan [ms]", "set-up [ms]",
             "iteration [ms]", "in all [ms]", "by d=2", "simulated [s]");
  constexpr double kMilliseconds = 1e3;
  const Cost first = cost_of(2);
  for (const int data : {2, 8, 32, 128}) {
    const Cost cost = data == 2 ? first : cost_of(data);
    fmt::print("{:>6} {:>8} {:>10.1f} {:>12.1f} {:>15.1f} {:>12.1f} {:>10.2f} {:>14.4f}\n", data, 128 * data,
               cost.plan * kMilliseconds, cost.set_up * kMilliseconds, cost.iteration * kMilliseconds,
               cost.in_all() * kMilliseconds, cost.in_all() / first.in_all(), cost.end.to_seconds());
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("\nmost memory: {} MiB\n", usage.ru_maxrss / 1024);
  for (const int data : {2, 4}) {
    const Time folded = cost_of(data).end, single = unfolded_end(data);
    if (folded != single) {
      fmt::print("d = {}: folded {} ns, GPU by GPU {} ns\n", data, folded.ns(), single.ns());
      return EXIT_FAILURE;
    }
  }
  fmt::print("d = 2, 4: the same nanosecond GPU by GPU\n");
  return EXIT_SUCCESS;
}
