#pragma once
// The routes by which messages of compression methods are added up, for those that have a choice.

#include "models/overlap/compression_method.hpp"
#include "models/overlap/problem.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace contend {

/// Appends what adds up `elements` values as they are, over all workers: values that a method has made, such as the
/// factors of a matrix. Any route can do that; `usual` is an all-reduce. `what` names them: `P`, or nothing.
void add_up_values(const OverlapProblem& problem, std::int64_t elements, std::string_view what,
                   std::vector<ExchangeStage>& stages);

/// Refusals that several methods share.
[[nodiscard]] RouteRefusal refuse_indices();   ///< to be added up on the way or in chunks
[[nodiscard]] RouteRefusal refuse_few_bits();  ///< to be added up on the way

}  // namespace contend
