#pragma once
// The iteration of a pipeline alone: no gradients are exchanged and nothing is updated.

#include "models/parallel/training_iteration.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace contend::test {

/// Ranks that do the same send messages of their own. A whole backward pass takes as long as its parts.
inline TrainingIteration plain_iteration(PipelinePlan plan, const PipelineCosts& costs, std::vector<Bytes> messages,
                                         int ranks_per_stage = 1) {
  TrainingIteration job;
  job.plan = std::move(plan);
  for (std::size_t stage = 0; stage < costs.forward.size(); ++stage)
    job.units.push_back({{costs.forward[stage], costs.backward_input[stage], costs.backward_weight[stage]}});
  job.messages = std::move(messages);
  job.data = ranks_per_stage;
  job.barrier = false;
  job.joint = false;
  job.update.assign(job.plan.ranks(), Time{});
  return job;
}

}  // namespace contend::test
