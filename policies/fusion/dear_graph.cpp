#include "models/overlap/iteration.hpp"
#include "policies/fusion/dear.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

std::vector<Bytes> gradient_of_layers(const OverlapProblem& problem) {
  std::vector<Bytes> sizes(problem.layers.size());
  for (const OverlapProblem::Gradient& each : problem.gradients) sizes[each.layer] += each.size;
  return sizes;
}

}  // namespace

LayerGroups dear_groups(const OverlapProblem& problem, double buffer_bytes) {
  const std::vector<Bytes> sizes = gradient_of_layers(problem);
  LayerGroups groups;
  Bytes filled;
  for (std::size_t layer = 0; layer < sizes.size(); ++layer) {
    if (sizes[layer] == Bytes{}) continue;
    if (groups.empty() || (filled + sizes[layer]).to_double() >= buffer_bytes) {
      groups.emplace_back(layer, layer);
      filled = Bytes{};
    }
    groups.back().second = layer;
    filled += sizes[layer];
  }
  return groups;
}

FusedIteration dear_graph(const OverlapProblem& problem, const LayerGroups& groups) {
  if (problem.cost.kind() != ExchangeKind::all_reduce)
    throw InputError{"dear splits all-reduces in two; there are none with a parameter server"};
  if (problem.method != nullptr)
    throw InputError{
        "dear splits the all-reduce of whole gradients in two, so it takes no compression method; set `compression: "
        "none` "
        "or another fusion policy"};
  const std::vector<Bytes> sizes = gradient_of_layers(problem);
  IterationBuilder builder{problem};
  builder.use_channel(1, Bytes{1});
  IterationGraph& graph = builder.graph;
  std::vector<Bytes> group_size;
  for (const auto& [first, last] : groups) {
    group_size.emplace_back();
    for (std::size_t layer = first; layer <= last; ++layer) group_size.back() += sizes[layer];
  }
  const auto name = [&](std::size_t g) {
    return fmt::format("{}..{}", problem.layers[groups[g].first].name, problem.layers[groups[g].second].name);
  };
  const auto gradients = [&](std::size_t g) {
    return static_cast<std::size_t>(std::count_if(
        problem.gradients.begin(), problem.gradients.end(),
        [&](const auto& each) { return each.layer >= groups[g].first && each.layer <= groups[g].second; }));
  };
  std::vector<OpId> scatter;
  std::vector<std::vector<OpId>> parts(groups.size());  // of each message, in their order
  for (std::size_t g = groups.size(); g-- > 0;) {
    const OpId ready =
        builder.prepare(name(g), gradients(g), group_size[g], builder.backward(groups[g].first), parts[g]);
    scatter.push_back(builder.collective("reduce-scatter " + name(g), CollectiveKind::reduce_scatter, group_size[g]));
    graph.add_dependency(ready, scatter.back());
    parts[g].push_back(scatter.back());
  }
  // An all-gather belongs to the iteration whose forward pass waits for it.
  OpId before = OpId::none();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const OpId gather = builder.collective("all-gather " + name(g), CollectiveKind::all_gather, group_size[g]);
    if (g == 0) {
      graph.add_dependency(builder.backward(0), gather, 1);
      for (const OpId each : scatter) graph.add_dependency(each, gather, 1);
    } else {
      graph.add_dependency(before, gather);
      if (groups[g - 1].first > 0) graph.add_dependency(builder.forward(groups[g - 1].first - 1), gather);
    }
    before = gather;
    parts[g].push_back(gather);
    const OpId arrived = builder.finish(name(g), gradients(g), group_size[g], gather, parts[g]);
    graph.add_dependency(arrived, builder.forward(groups[g].first));
    builder.record(name(g), gradients(g), group_size[g], std::move(parts[g]));
  }
  return builder.take();
}

}  // namespace contend
