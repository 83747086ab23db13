// The fast executor gives the figures of studies; here the engine executes shipped ones as well.

#include "models/overlap/engine_measurement.hpp"
#include "models/overlap/phases.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/study/study_cost.hpp"
#include "scenarios/study/study_iteration.hpp"
#include "scenarios/study/study_model.hpp"
#include "sim/error.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

std::vector<std::string> shipped_studies() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator{"scenarios/overlap"})
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  return files;
}

/// Compares every iteration of a study, and says how many there were.
std::size_t compare_all(const Scenario& scenario) {
  std::size_t compared = 0;
  const TimedModel model = study_model(scenario.overlap);
  for (const int workers : scenario.overlap.workers) {
    for (const PolicyChoice& compression : scenario.overlap.compression) {
      for (const PolicyChoice& fusion : scenario.overlap.fusion) {
        INFO(scenario.name, ": ", workers, " workers, ", compression.name, ", ", fusion.name);
        OverlapProblem problem = study_problem(scenario, model, workers);
        const StudyPolicies policies =
            make_study_policies(scenario.network, scenario.overlap, scenario.seed, compression, fusion);
        use_method(scenario, policies.method.get(), problem);
        IterationGraph graph;
        try {
          graph = plan_iteration(*policies.fusion, problem).graph;
        } catch (const InputError&) {
          continue;  // the policy can't work there
        }
        for (const SharedGraph& each : repeating_graphs(graph)) {
          const SteadyState fast = steady_state(each.graph, problem.cost);
          CHECK(engine_difference(each.graph, problem.cost, simulated_ranks(problem), fast).empty());
        }
        ++compared;
      }
    }
  }
  return compared;
}

}  // namespace

TEST_CASE("shipped studies: every iteration ends on the engine's nanosecond") {
  std::size_t studies = 0;
  for (const std::string& file : shipped_studies()) {
    Scenario scenario = load_scenario(file);
    scenario.overlap.workers = {scenario.overlap.workers.back()};
    CHECK(compare_all(scenario) >= 4);
    ++studies;
  }
  CHECK(studies >= 6);
}

TEST_CASE("the check finds a nanosecond") {
  const Scenario scenario = parsed(
      "network: {nic: 10Gbps, alpha: 50us}\ntraining: {it: {model: resnet18}}\noverlap: {training: it, workers: [4]}");
  const OverlapProblem problem = study_problem(scenario, study_model(scenario.overlap), 4);
  const StudyPolicies policies =
      make_study_policies(scenario.network, scenario.overlap, scenario.seed, scenario.overlap.compression.front(),
                          scenario.overlap.fusion.front());
  const IterationGraph graph = plan_iteration(*policies.fusion, problem).graph;
  SteadyState fast = steady_state(graph, problem.cost);
  CHECK(engine_difference(graph, problem.cost, 2, fast).empty());
  fast.ends.back() += Time::nanoseconds(1);
  CHECK(
      engine_difference(graph, problem.cost, 2, fast).starts_with(fmt::format("iteration {} ends", fast.ends.size())));
}

TEST_CASE("interference of the scenario makes an iteration that overlaps longer, in a study and on a cluster") {
  constexpr const char* kStudy =
      "network: {{nic: 100Gbps, alpha: 5us, interference: {{compute: {}, network: {}}}}}\n"
      "training: {{it: {{model: resnet50, device: V100-SXM2}}}}\noverlap: {{training: it, workers: [8], fusion: "
      "[wfbp]}}";
  const auto seconds = [&](double c, double x) {
    const Scenario scenario = parsed(fmt::format(kStudy, c, x));
    CHECK(compare_all(scenario) == 1);
    const OverlapProblem problem = study_problem(scenario, study_model(scenario.overlap), 8);
    CHECK(problem.cost.interference ==
          interference_of(scenario.network, scenario.overlap, scenario.training, TransferPath::between));
    const StudyPolicies policies =
        make_study_policies(scenario.network, scenario.overlap, scenario.seed, scenario.overlap.compression.front(),
                            scenario.overlap.fusion.front());
    return steady_state(plan_iteration(*policies.fusion, problem).graph, problem.cost).iteration_ns;
  };
  const double alone = seconds(0, 0);
  CHECK(seconds(0.25, 0) > alone);
  CHECK(seconds(0.25, 0.25) > seconds(0.25, 0));
  const auto factors_of = [](const char* text, TransferPath path) {
    const Scenario scenario = parsed(text);
    return interference_of(scenario.network, scenario.overlap, scenario.training, path);
  };
  CHECK(factors_of("network: {interference: {compute: 0.1234567}}", TransferPath::between) == Interference{123'457, 0});

  CHECK(factors_of("network: {interference: 0.3}", TransferPath::inside) == Interference{300'000, 300'000});
  CHECK(factors_of("network: {interference: none}", TransferPath::inside).none());

  // Two jobs on the same GPUs: while one communicates, the other computes.
  const auto makespan = [](double factor) {
    const Scenario scenario = parsed(fmt::format(
        "cluster: {{servers: 2, gpus_per_server: 1}}\nnetwork: {{nic: 1Gbps, interference: {{compute: {0}, network: "
        "{0}}}}}\npolicies: {{placement: first-fit}}\nworkload: {{generate: {{sizes: {{2: 2}}, iterations: [50, "
        "50]}}}}",
        factor));
    return run_scenario(scenario, 1).end;
  };
  CHECK(makespan(0.5) > makespan(0));
  CHECK_THROWS_AS(parsed("network: {fidelity: flow, interference: {network: 0.1}}"), InputError);
}
