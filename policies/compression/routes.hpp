#pragma once
// A route is the collectives by which the messages of a compression method are added up. These functions serve the
// methods that support several routes.

#include "models/overlap/compression_method.hpp"
#include "models/overlap/problem.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace contend {

/// Appends the stages that add up `elements` unencoded values over all workers, such as the factors of a matrix. Every
/// route supports this; `usual` is an all-reduce. `what` names the values in the names of the stages, such as `P`; it
/// may be empty.
void add_up_values(const OverlapProblem& problem, std::int64_t elements, std::string_view what,
                   std::vector<ExchangeStage>& stages);

/// The refusal of a route that adds up values on the way or in chunks, by methods that send values with their indices.
[[nodiscard]] RouteRefusal refuse_indices();
/// The refusal of a route that adds up values on the way, by methods that send codes of a few bits.
[[nodiscard]] RouteRefusal refuse_few_bits();

}  // namespace contend
