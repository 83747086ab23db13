#include "scenarios/study/study_iteration.hpp"

#include "models/overlap/engine_measurement.hpp"
#include "policies/fusion/search.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/run/cost_formulas.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/study/study_cost.hpp"
#include "scenarios/training/trained_model.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace contend {
namespace {

template <class Port>
std::unique_ptr<Port> make(std::span<const PolicyRow<Port>> table, const NetworkSetup& network, std::uint64_t seed,
                           const PolicyChoice& choice) {
  const AlphaBeta cost = network_cost(network);
  return make_policy(table, choice, {seed, cost.beta, cost.eta});
}

/// The policy that searches starts from all others of the study. It has those with their usual parameters anyway.
std::unique_ptr<FusionPolicy> make_search(const NetworkSetup& network, const IterationStudy& study, std::uint64_t seed,
                                          const PolicyChoice& choice) {
  std::vector<std::unique_ptr<FusionPolicy>> others;
  for (const PolicyChoice& each : study.fusion) {
    if (each.name != kSearchName && !same_choice(each, default_policy(policy_kind("fusion"), each.name)))
      others.push_back(make(fusion_policies(), network, seed, each));
  }
  return search_from(std::move(others), choice.parameters.get<std::int64_t>("evaluations"));
}

}  // namespace

StudyPolicies make_study_policies(const NetworkSetup& network, const IterationStudy& study, std::uint64_t seed,
                                  const PolicyChoice& compression, const PolicyChoice& fusion) {
  return {make(compression_policies(), network, seed, compression),
          fusion.name == kSearchName ? make_search(network, study, seed, fusion)
                                     : make(fusion_policies(), network, seed, fusion)};
}

void use_method(const TrainingSystem& system, const CompressionMethod* method, OverlapProblem& problem) {
  use_method(system.overlap.entry, method, problem);
  if (method != nullptr && system.network.sites && problem.workers > 1)
    problem.cost = study_cost(system, problem.workers, method->peers());
}

SteadyState settle(const IterationStudy& study, const OverlapProblem& problem, const IterationGraph& graph) {
  SteadyState state = steady_state(graph, problem.cost);
  if (study.engine) {
    const std::string difference = engine_difference(graph, problem.cost, simulated_ranks(problem), state);
    CONTEND_CHECK(difference.empty(), difference);
  }
  return state;
}

int simulated_ranks(const OverlapProblem& problem) {
  return std::min(problem.workers, 2);
}

}  // namespace contend
