#include "models/passes/pass.hpp"

#include <algorithm>

namespace contend {

GraphSizes sizes_of(const FusedIteration& iteration) {
  const IterationGraph& graph = iteration.graph;
  GraphSizes sizes{
      .operations = graph.ops().size(), .roles = graph.roles().size(), .dependencies = graph.dependencies().size()};
  for (std::size_t role = 0; role < graph.roles().size(); ++role)
    sizes.compute = std::max(sizes.compute, graph.compute_per_rank(RoleId{role}));
  for (const Op& op : graph.ops())
    if (op.is_in(0)) sizes.bytes += op.all_bytes();
  return sizes;
}

GraphSizes sizes_of(const TimedModel& model) {
  const std::size_t tasks = 2 * model.layers.size();
  return {.operations = tasks, .roles = 1, .dependencies = tasks, .compute = model.forward() + model.backward()};
}

void check_subject(const FusedIteration& iteration) {
  iteration.graph.validate();
}

void check_subject(const TimedModel& model) {
  validate(model);
}

}  // namespace contend
