#include "sim/plan.hpp"

#include <algorithm>

namespace contend {

Plan::Plan(const IterationGraph& graph) : roles{graph.roles()}, compute_total{graph.compute_total()} {
  graph.validate();
  for (std::size_t r = 0; r < roles.size(); ++r) {
    first_rank.push_back(ranks);
    ranks += roles[r].ranks;
    compute_per_rank.push_back(graph.compute_per_rank(RoleId{r}));
  }
  for (const Op& op : graph.ops()) {
    PlannedOp planned;
    planned.op = op;
    planned.per_rank = op.kind != OpKind::collective;
    planned.ranks = roles[op.role.index()].ranks;
    instances += planned.per_rank ? planned.ranks : 1;
    ops.push_back(std::move(planned));
  }
  for (const Dependency& d : graph.dependencies()) {
    PlannedOp& before = ops[d.before.index()];
    PlannedOp& after = ops[d.after.index()];
    const auto lag = static_cast<std::size_t>(d.lag);
    before.successors[lag].push_back(d.after);
    after.predecessor_instances[lag] += before.per_rank && !after.per_rank ? before.ranks : 1;
  }
  foldable = roles.size() == 1 &&
             std::none_of(ops.begin(), ops.end(), [](const PlannedOp& op) { return op.op.kind == OpKind::message; });
}

}  // namespace contend
