#pragma once
// Looks for the best synchronous schedule under the actual cost of a problem: all named plans with their usual
// parameters, and the best of them improved step by step.

#include "models/overlap/iteration.hpp"
#include "models/overlap/problem.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// The best plan found in at most about `evaluations` trials; never worse than any of `candidates`.
[[nodiscard]] FusedIteration search_plan(const OverlapProblem& problem, std::vector<FusedIteration> candidates,
                                         std::int64_t evaluations);

}  // namespace contend
