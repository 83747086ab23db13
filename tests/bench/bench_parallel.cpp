// What an iteration of a model on many GPUs costs: Llama 3 405B by tensor 8, pipeline 16 and more and more
// data-parallel ranks, which do the same and are simulated as one. Everything in one process on one core, in time of
// the processor; ratios are of one run. With few of them the run must end when it does GPU by GPU.

#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

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
  double plan = 0, run = 0;
  Time end;
};

Cost cost_of(int data) {
  const Scenario scenario = scenario_of(data);
  Cost cost;
  double begin = processor_seconds();
  Workload workload = scenario_workload(scenario, 1);
  cost.plan = processor_seconds() - begin;
  begin = processor_seconds();
  cost.end = run_workload(scenario, std::move(workload), 1).jobs.front().finish;
  cost.run = processor_seconds() - begin;
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
  fmt::print("{:>6} {:>8} {:>14} {:>14} {:>12} {:>12}\n", "data", "GPUs", "plan [s]", "run [s]", "run by d=2",
             "iteration");
  const Cost first = cost_of(2);
  for (const int data : {2, 8, 32, 128}) {
    const Cost cost = cost_of(data);
    fmt::print("{:>6} {:>8} {:>14.3f} {:>14.3f} {:>12.2f} {:>12.4f}\n", data, 128 * data, cost.plan, cost.run,
               cost.run / first.run, cost.end.to_seconds());
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
