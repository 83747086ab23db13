#pragma once
// How many messages a fusion policy has planned.

#include "sim/graph.hpp"

#include <algorithm>
#include <cstddef>

namespace contend::test {

/// Number of collectives in one iteration of this graph.
inline std::size_t message_count(const IterationGraph& graph) {
  return static_cast<std::size_t>(std::count_if(graph.ops().begin(), graph.ops().end(),
                                                [](const Op& op) { return op.kind == OpKind::collective; }));
}

}  // namespace contend::test
