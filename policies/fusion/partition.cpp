#include "policies/fusion/partition.hpp"

#include "models/overlap/iteration.hpp"
#include "sim/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace contend {

namespace {
constexpr std::int64_t kMaxPieces = 1'000'000;
}

FusedIteration partitioned_graph(const OverlapProblem& problem, std::int64_t piece, std::int64_t credit) {
  const Bytes most{piece * problem.gradient_element_bytes};
  if (problem.gradient().count() / most.count() > kMaxPieces)
    throw InputError{fmt::format("pieces of {} elements: more than {} of them in an iteration", piece, kMaxPieces)};
  return partitioned_graph(problem, every_gradient(problem), most, Bytes{credit * problem.gradient_element_bytes});
}

FusedIteration partitioned_graph(const OverlapProblem& problem, const MergePlan& plan, Bytes most, Bytes credit) {
  IterationBuilder builder{problem};
  builder.use_channel(1, credit);
  for (const GradientGroup& group : plan) {
    const std::size_t layer = builder.layer(group);
    Bytes left = builder.size(group);
    for (int part = 1; left > Bytes{}; ++part) {
      const Bytes size = std::min(left, most);
      left -= size;
      const auto sent = builder.piece(fmt::format("#{}.{} {}", group.first, part, problem.layers[layer].name), size,
                                      static_cast<std::int32_t>(layer));
      builder.graph.add_dependency(builder.backward(layer), sent.begin);
      builder.graph.add_dependency(sent.end, builder.forward(layer), 1);
    }
  }
  return builder.take();
}

}  // namespace contend
