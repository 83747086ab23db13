#include "scenarios/training/planned_iteration.hpp"

#include "models/overlap/bound.hpp"
#include "models/overlap/phases.hpp"
#include "scenarios/keys/policy_codec.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace contend {

PlannedIteration plan_messages(const OverlapProblem& problem, const FusionPolicy& policy, const PolicyChoice& fusion,
                               const PolicyChoice& compression, int batch, int counted) {
  constexpr double kNanoseconds = 1e9;
  PlannedIteration planned{plan_iteration(policy, problem), {}};
  if (problem.cost.kind() == ExchangeKind::parameter_server) {
    IterationGraph& graph = planned.fused.graph;
    for (std::size_t i = 0; i < graph.ops().size(); ++i) {
      if (graph.ops()[i].kind == OpKind::collective)
        graph.serve(OpId{i}, problem.cost.duplex() ? ParameterServers::elsewhere : ParameterServers::colocated);
    }
  }
  IterationPlan plan;
  plan.fusion = policy_title("fusion", fusion);
  plan.compression = policy_title("compression", compression);
  plan.compute = problem.compute();
  const double kernels = mean_compute_s(planned.fused.graph) - plan.compute.to_seconds();
  plan.kernels = Time::nanoseconds(std::max(0LL, std::llround(kernels * kNanoseconds)));
  plan.samples = static_cast<double>(batch) * counted;
  planned.notes.stale = policy.staleness() > 0;
  planned.notes.bound =
      problem.method != nullptr ? problem.compute() : iteration_bound(problem, policy.staleness()).value();
  planned.notes.plan = std::make_shared<const IterationPlan>(std::move(plan));
  return planned;
}

}  // namespace contend
