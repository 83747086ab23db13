#include "models/overlap/phases.hpp"
#include "policies/fusion/fusion_policy.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace contend {

FusedIteration plan_iteration(const FusionPolicy& policy, OverlapProblem problem) {
  if (problem.workers == 1) return IterationBuilder{problem}.take();
  const IterationPhases phases = problem.method != nullptr ? problem.method->phases() : IterationPhases{};
  std::vector<FusedIteration> planned;
  for (std::size_t phase = 0; phase < phases.count(); ++phase) {
    problem.phase = static_cast<int>(phase);
    planned.push_back(policy.plan(problem));
  }
  return join_phases(phases, std::move(planned));
}

}  // namespace contend
