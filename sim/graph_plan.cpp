#include "sim/graph_plan.hpp"

#include <algorithm>

namespace contend {

Plan::Plan(const IterationGraph& graph)
    : roles{graph.roles()}, channels{graph.channels()}, compute_total{graph.compute_total()} {
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
    communicates = communicates || op.kind != OpKind::compute;
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
  find_chains();
}

void Plan::find_chains() {
  if (!foldable) return;
  // A rank is certain to have nothing else to do between two operations only if the operations of an iteration are
  // totally ordered and an iteration begins when the one before has ended.
  std::vector<std::int32_t> waits_for(ops.size(), 0);
  for (const PlannedOp& op : ops) {
    for (const OpId after : op.successors[0]) ++waits_for[after.index()];
  }
  std::vector<OpId> order, ready;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (waits_for[i] == 0) ready.emplace_back(i);
  }
  while (order.size() < ops.size()) {
    if (ready.size() > 1) return;  // not totally ordered
    order.push_back(ready.front());
    ready.clear();
    for (const OpId after : ops[order.back().index()].successors[0]) {
      if (--waits_for[after.index()] == 0) ready.push_back(after);
    }
  }
  const auto& next_iteration = ops[order.back().index()].successors[1];
  if (std::find(next_iteration.begin(), next_iteration.end(), order.front()) == next_iteration.end()) return;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    PlannedOp& op = ops[order[i].index()];
    const PlannedOp& after = ops[order[i + 1].index()];
    // If a task takes no time, the GPU may run a task of another job at the same instant.
    if (op.op.duration == Time{} || after.op.duration == Time{}) continue;
    if (op.op.kind == OpKind::compute && after.op.kind == OpKind::compute && op.successors[0].size() == 1 &&
        op.successors[1].empty() && after.predecessor_instances[0] == 1 && after.predecessor_instances[1] == 0) {
      op.then = order[i + 1];
    }
  }
}

}  // namespace contend
