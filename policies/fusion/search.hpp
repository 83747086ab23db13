#pragma once
// The search looks for the best synchronous schedule under the actual cost of a problem by hill climbing: it changes a
// plan step by step and keeps the improvements.

#include "models/overlap/iteration.hpp"
#include "models/overlap/problem.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// Returns the best plan found in about `evaluations` trials; it is never worse than the best of `candidates`.
[[nodiscard]] FusedIteration search_plan(const OverlapProblem& problem, std::vector<FusedIteration> candidates,
                                         std::int64_t evaluations);

}  // namespace contend
