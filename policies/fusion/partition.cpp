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
  IterationBuilder builder{problem};
  builder.use_channel(1, Bytes{credit * problem.gradient_element_bytes});
  for (std::size_t i = 0; i < problem.gradients.size(); ++i) {
    const OverlapProblem::Gradient& gradient = problem.gradients[i];
    Bytes left = gradient.size;
    for (int part = 1; left > Bytes{}; ++part) {
      const Bytes size = std::min(left, most);
      left -= size;
      const auto sent = builder.piece(fmt::format("#{}.{} {}", i, part, problem.layers[gradient.layer].name), size,
                                      static_cast<std::int32_t>(gradient.layer));
      builder.graph.add_dependency(builder.backward(gradient.layer), sent.begin);
      builder.graph.add_dependency(sent.end, builder.forward(gradient.layer), 1);
    }
  }
  return builder.take();
}

}  // namespace contend
