#pragma once
// Pipelines with random times, and what the engine makes of their graphs.

#include "sim/simulation.hpp"
#include "tests/models/parallel/equal_costs.hpp"
#include "tests/policies/pipeline/pipeline_kit.hpp"
#include "tests/sim/test_kit.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace contend::test {

/// Random times for every stage and boundary, with the messages that take as long in a network of 1 ns a byte.
struct RandomCosts {
  PipelineCosts costs;
  std::vector<Bytes> messages;

  RandomCosts(const PipelinePlan& plan, RandomStream& random) : costs{test::equal_costs(plan, {}, {}, {})} {
    const auto draw = [&](std::vector<Time>& times) {
      for (Time& each : times) each = Time::nanoseconds(random.uniform_integer(1, 40));
    };
    draw(costs.forward);
    draw(costs.backward_input);
    draw(costs.backward_weight);
    for (std::size_t i = 0; i < costs.backward.size(); ++i)
      costs.backward[i] = costs.backward_input[i] + costs.backward_weight[i];
    for (std::size_t i = 0; i + 1 < costs.forward.size(); ++i) {
      const std::int64_t wait = random.uniform_integer(0, 12);
      for (auto& path : costs.latency) path[i] = Time::nanoseconds(wait);
      messages.emplace_back(wait);
    }
  }
};

/// Executes iterations of a graph, each rank on a server of its own.
inline RunResult run_of(const IterationGraph& graph, std::int64_t iterations, bool leap, Observer* observer) {
  const int ranks = graph.ranks();
  TestJob job;
  job.gpus.clear();
  for (int i = 0; i < ranks; ++i) job.gpus.push_back(static_cast<std::uint32_t>(i));
  Workload workload;
  JobSpec spec;
  spec.name = "pipeline";
  spec.iterations = iterations;
  spec.memory_per_gpu = Bytes{1};
  spec.gpus = ranks;
  workload.jobs.push_back(spec);
  workload.graphs.push_back(graph);
  SimulationOptions options;
  options.leap = leap;
  options.observer = observer;
  const Setup setup{.servers = ranks};
  Simulation simulation{{ranks, 1, Bytes{setup.gpu_memory}},
                        std::move(workload),
                        policies_of(setup, {job}),
                        std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(ranks), 1),
                        std::move(options)};
  return simulation.run();
}

}  // namespace contend::test
