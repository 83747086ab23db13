#pragma once
// The search looks for the best synchronous schedule under the actual cost of a problem by hill climbing: it changes a
// plan step by step and keeps the improvements.
//
// It sends groups of gradients with a barrier, one, two or four at once; by priority across the barrier, whole or in
// pieces; or in two halves, as DeAR does. Pieces and halves are for gradients that are not compressed: a method
// compresses whole gradients.

#include "models/overlap/iteration.hpp"
#include "models/overlap/problem.hpp"
#include "policies/fusion/fusion_policy.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace contend {

/// The name of the policy that searches.
inline constexpr std::string_view kSearchName = "search";

/// Returns the policy that starts from the plans of `others`, those that change the training algorithm or refuse the
/// problem excepted, and from the plans of every policy of the registry with its usual parameters, unless they have
/// more than 256 messages for each gradient.
[[nodiscard]] std::unique_ptr<FusionPolicy> search_from(std::vector<std::unique_ptr<FusionPolicy>> others,
                                                        std::int64_t evaluations);

/// Returns the best plan found in about `evaluations` trials, and a quarter more at most for pieces; it is never worse
/// than the best of `candidates`.
[[nodiscard]] FusedIteration search_plan(const OverlapProblem& problem, std::vector<FusedIteration> candidates,
                                         std::int64_t evaluations);

}  // namespace contend
