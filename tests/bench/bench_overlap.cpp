// How fast a what-if about one iteration is: planning, and model x policy x 2048 workers in the steady state, by the
// fast executor and, for comparison in the same run, event by event on the engine.
//   bench_overlap [what-ifs]          default 10000

#include "models/overlap/engine_measurement.hpp"
#include "models/overlap/steady_state.hpp"
#include "policies/fusion/merging.hpp"
#include "policies/registry.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/study/study_cost.hpp"
#include "scenarios/study/study_model.hpp"

#include <chrono>
#include <cstdlib>
#include <string>

#include <fmt/core.h>

using namespace contend;

namespace {

template <class Work>
double seconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Scenario study(const std::string& model) {
  return parse_scenario("schema_version: 1\nnetwork: {nic: 10Gbps, alpha: 45us}\ntraining: {it: {model: " + model +
                            "}}\noverlap: {training: it}\n",
                        "bench");
}

OverlapProblem deep(std::size_t layers) {
  OverlapProblem problem;
  problem.workers = 64;
  for (std::size_t i = 0; i < layers; ++i) {
    problem.layers.push_back({"l" + std::to_string(i), Time::microseconds(10), Time::microseconds(20)});
  }
  for (std::size_t i = layers; i-- > 0;)
    problem.gradients.push_back({i, Bytes{4096 + 97 * static_cast<std::int64_t>(i % 1000)}});
  problem.cost = ExchangeCost::ring(64, {Time::microseconds(1), TimePerByte{0.1}, {}});
  return problem;
}

void plan_deep_model() {
  const OverlapProblem problem = deep(10'000);
  const SerialCost cost = serial_cost(problem.cost);
  MergePlan plan;
  const double planning = seconds([&] { plan = optimal_merge(problem, cost); });
  fmt::print("MG-WFBP for {} layers: plan {:.3f} ms ({} messages)", problem.layers.size(), planning * 1e3, plan.size());
  IterationGraph graph;
  const double building = seconds([&] { graph = barrier_graph(problem, plan).graph; });
  fmt::print(", graph {:.1f} ms\n\n", building * 1e3);
}

void time_policies(const std::string& model) {
  const Scenario scenario = study(model);
  const TimedModel layers = study_model(scenario.overlap);
  const OverlapProblem problem = study_problem(scenario, layers, 2048);
  fmt::print("{}, {} gradients, 2048 workers: one what-if in ms (plan, then steady state)\n", model,
             problem.gradients.size());
  fmt::print("  {:<14}{:>9}{:>9}{:>9}{:>11}{:>8}\n", "policy", "plan", "fast", "both", "engine", "ratio");
  for (const PolicyRow<FusionPolicy>& row : fusion_policies()) {
    std::vector<std::pair<std::string, ParameterValue>> values;
    for (const ParameterInfo& each : row.parameters) values.emplace_back(each.name, each.default_value);
    const auto policy = row.make(Parameters{std::move(values)}, {});
    IterationGraph graph;
    SteadyState state;
    const double plan = seconds([&] { graph = policy->plan(problem).graph; });
    const double fast = seconds([&] { state = steady_state(graph, problem.cost); });
    SteadyStateOptions options;
    options.iterations = state.warm_up + state.period;
    const double engine = seconds([&] { static_cast<void>(measure_in_engine(graph, problem.cost, 2, options)); });
    fmt::print("  {:<14}{:>9.3f}{:>9.3f}{:>9.3f}{:>11.3f}{:>8.1f}\n", row.name, plan * 1e3, fast * 1e3,
               (plan + fast) * 1e3, engine * 1e3, engine / fast);
  }
}

void sweep(std::size_t what_ifs) {
  const Scenario scenario = study("resnet50");
  const TimedModel layers = study_model(scenario.overlap);
  constexpr std::string_view kPolicies[] = {"bsp", "wfbp", "ddp", "mg-wfbp", "asc-wfbp", "dear", "bytescheduler"};
  double sum = 0;
  const double took = seconds([&] {
    for (std::size_t i = 0; i < what_ifs; ++i) {
      const OverlapProblem problem = study_problem(scenario, layers, 4 + static_cast<int>(i % 2045));
      const std::string_view name = kPolicies[i % std::size(kPolicies)];
      for (const PolicyRow<FusionPolicy>& row : fusion_policies()) {
        if (row.name != name) continue;
        std::vector<std::pair<std::string, ParameterValue>> values;
        for (const ParameterInfo& each : row.parameters) values.emplace_back(each.name, each.default_value);
        sum +=
            steady_state(row.make(Parameters{std::move(values)}, {})->plan(problem).graph, problem.cost).iteration_ns;
      }
    }
  });
  fmt::print(
      "\n{} what-ifs of resnet50, seven policies, 4 to 2048 workers: {:.2f} s on one core, {:.3f} ms each (sum {:.6e} "
      "ns)\n",
      what_ifs, took, took * 1e3 / static_cast<double>(what_ifs), sum);
}

}  // namespace

int main(int argc, char** argv) {
  plan_deep_model();
  time_policies("resnet50");
  time_policies("bert-large");
  sweep(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000);
}
