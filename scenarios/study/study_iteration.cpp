#include "scenarios/study/study_iteration.hpp"

#include "calibration/calibrated_device.hpp"
#include "models/overlap/engine_measurement.hpp"
#include "policies/fusion/search.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/study/study_cost.hpp"
#include "scenarios/training/trained_model.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

template <class Port>
std::unique_ptr<Port> make(std::span<const PolicyRow<Port>> table, const Scenario& scenario,
                           const PolicyChoice& choice) {
  const AlphaBeta network = network_cost(scenario.network);
  return make_policy(table, choice, {scenario.seed, network.beta, network.eta});
}

/// The policy that searches starts from all others of the study. It has those with their usual parameters anyway.
std::unique_ptr<FusionPolicy> make_search(const Scenario& scenario, const PolicyChoice& choice) {
  std::vector<std::unique_ptr<FusionPolicy>> others;
  for (const PolicyChoice& each : scenario.overlap.fusion) {
    if (each.name != kSearchName && !same_choice(each, default_policy(policy_kind("fusion"), each.name)))
      others.push_back(make(fusion_policies(), scenario, each));
  }
  return search_from(std::move(others), choice.parameters.get<std::int64_t>("evaluations"));
}

}  // namespace

StudyPolicies make_study_policies(const Scenario& scenario, const PolicyChoice& compression,
                                  const PolicyChoice& fusion) {
  return {make(compression_policies(), scenario, compression),
          fusion.name == kSearchName ? make_search(scenario, fusion) : make(fusion_policies(), scenario, fusion)};
}

void use_method(const Scenario& scenario, const CompressionMethod* method, OverlapProblem& problem) {
  use_method(scenario.overlap.entry, method, problem);
  if (method != nullptr && scenario.network.sites && problem.workers > 1)
    problem.cost = study_cost(scenario, problem.workers, method->peers());
}

SteadyState settle(const Scenario& scenario, const OverlapProblem& problem, const IterationGraph& graph) {
  SteadyState state = steady_state(graph, problem.cost);
  if (scenario.overlap.engine) {
    const std::string difference = engine_difference(graph, problem.cost, simulated_ranks(problem), state);
    CONTEND_CHECK(difference.empty(), difference);
  }
  return state;
}

int simulated_ranks(const OverlapProblem& problem) {
  return std::min(problem.workers, 2);
}

}  // namespace contend
