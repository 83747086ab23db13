#pragma once
// Costs of pipelines whose stages are all alike, and how long the busiest rank of a pipeline works.

#include "models/parallel/pipeline_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace contend::test {

/// The costs of equal stages; a whole backward pass is as long as its parts.
inline PipelineCosts equal_costs(const PipelinePlan& plan, Time forward, Time backward_input, Time backward_weight,
                                 Time latency = {}) {
  const auto stages = static_cast<std::size_t>(plan.stages);
  PipelineCosts costs;
  costs.forward.assign(stages, forward);
  costs.backward.assign(stages, backward_input + backward_weight);
  costs.backward_input.assign(stages, backward_input);
  costs.backward_weight.assign(stages, backward_weight);
  costs.latency.assign(plan.paths.size(), std::vector<Time>(stages - 1, latency));
  return costs;
}

/// The longest span of a rank: what an iteration takes if a rank goes on to the next one without waiting for the
/// others, as schedules without a barrier at the optimizer step do (arXiv 2401.10241, section 4).
inline Time longest_span(const PipelineTimes& times) {
  return times.span.empty() ? Time{} : *std::max_element(times.span.begin(), times.span.end());
}

}  // namespace contend::test
