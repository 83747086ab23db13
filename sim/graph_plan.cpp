#include "sim/graph_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace contend {

namespace {

void look_at_rounds(const IterationGraph& graph, Plan& plan) {
  if (graph.left_out().count == 0) return;
  for (Plan::PlannedOp& op : plan.ops) {
    op.often = graph.often(op.op);
    for (std::size_t phase = 0; phase < plan.phases.count(); ++phase)
      if (op.op.sends() && op.op.is_in(phase))
        plan.sent[phase] += op.op.all_bytes() * ((op.per_rank ? op.ranks : 1) * (op.often - 1));
  }
  plan.rounds.emplace(plan, graph.left_out());
}

}  // namespace

Plan::Plan(const IterationGraph& graph)
    : roles{graph.roles()},
      channels{graph.channels()},
      counters{graph.counters()},
      in_flight{graph.in_flight()},
      phases{graph.phases()},
      instances(phases.count(), 0),
      sent(phases.count()) {
  graph.validate();
  for (const Role& role : roles) first_rank.push_back(std::exchange(ranks, ranks + role.ranks));
  for (std::size_t phase = 0; phase < phases.count(); ++phase) {
    compute_total.push_back(graph.compute_total(phase));
    compute_per_rank.emplace_back();
    for (std::size_t r = 0; r < roles.size(); ++r)
      compute_per_rank.back().push_back(graph.compute_per_rank(RoleId{r}, phase));
  }
  for (const Op& op : graph.ops()) {
    PlannedOp planned;
    planned.op = op;
    planned.per_rank = op.per_rank();
    communicates = communicates || op.is_traffic() || op.kind == OpKind::timer;
    has_timers = has_timers || op.kind == OpKind::timer;
    uses_hosts = uses_hosts || op.host.any();
    leaves_server = leaves_server || op.servers == ParameterServers::elsewhere;
    planned.ranks = graph.ranks_of(op);
    for (std::size_t phase = 0; phase < phases.count(); ++phase) {
      if (!op.is_in(phase)) continue;
      instances[phase] += planned.per_rank ? planned.ranks : 1;
      if (op.sends()) sent[phase] += op.all_bytes() * (planned.per_rank ? planned.ranks : 1);
    }
    for (auto& by_phase : planned.predecessor_instances) by_phase.assign(phases.count(), 0);
    ops.push_back(std::move(planned));
  }
  number_lanes();
  number_lists();
  look_at_counters();
  for (const Dependency& d : graph.dependencies()) {
    PlannedOp& before = ops[d.before.index()];
    PlannedOp& after = ops[d.after.index()];
    const auto lag = static_cast<std::size_t>(d.lag);
    before.successors[lag].push_back(d.after);
    for (std::size_t phase = 0; phase < phases.count(); ++phase) {
      if (before.op.is_in(phase))
        after.predecessor_instances[lag][phase] += before.per_rank && !after.per_rank ? before.ranks : 1;
    }
  }
  const auto joins_ranks = [&](const Dependency& d) {
    const PlannedOp& before = ops[d.before.index()];
    const PlannedOp& after = ops[d.after.index()];
    return before.per_rank && after.per_rank && before.op.role != after.op.role;
  };
  foldable = std::none_of(ops.begin(), ops.end(),
                          [](const PlannedOp& op) { return op.per_rank && op.op.kind == OpKind::message; }) &&
             std::none_of(graph.dependencies().begin(), graph.dependencies().end(), joins_ranks);
  find_late(graph);
  look_at_rounds(graph, *this);
  find_chains();
}

void Plan::number_lanes() {
  for (const PlannedOp& op : ops)
    if (op.op.kind == OpKind::task) lanes.push_back(op.op.lane);
  std::sort(lanes.begin(), lanes.end());
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  for (PlannedOp& op : ops)
    if (op.op.kind == OpKind::task)
      op.lane = static_cast<std::uint16_t>(std::lower_bound(lanes.begin(), lanes.end(), op.op.lane) - lanes.begin());
}

void Plan::number_lists() {
  std::vector<const RankLists*> known;
  for (PlannedOp& op : ops) {
    if (op.op.scope != CollectiveScope::groups || !op.op.groups.lists) continue;
    const RankLists& lists = *op.op.groups.lists;
    const auto same = std::find_if(known.begin(), known.end(), [&](const RankLists* each) { return *each == lists; });
    op.lists = static_cast<std::int32_t>(same - known.begin());
    if (same == known.end()) known.push_back(&lists);
  }
}

void Plan::look_at_counters() {
  for (const PlannedOp& await : ops) {
    if (!await.op.counts()) continue;
    counters_recur = counters_recur && !counters[await.op.counter.index()].shared;
    for (const PlannedOp& post : ops)
      if (post.op.kind == OpKind::post && post.op.counter == await.op.counter && post.op.amount != await.op.amount)
        counters_recur = false;
  }
}

void Plan::find_late(const IterationGraph& graph) {
  leaves_behind = std::any_of(roles.begin(), roles.end(), [](const Role& role) { return role.late > 0; });
  if (!leaves_behind) return;
  for (const Role& role : roles) {
    if (!role.patience || role.late == 0) continue;
    patience = role.patience;
    pattern = {role.late, patience->burst, patience->window};
  }
  const std::vector<bool> is_task = graph.tasks_before_joins();
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i].may_be_dropped = is_task[i];
  for (const Dependency& d : graph.dependencies()) {
    PlannedOp& before = ops[d.before.index()];
    PlannedOp& after = ops[d.after.index()];
    if (d.lag != 0 || !before.may_be_dropped || after.per_rank) continue;
    before.is_awaited = true;
    if (patience) continue;
    after.late = roles[before.op.role.index()].late;
    for (std::int32_t& instances_awaited : after.predecessor_instances[0])
      if (instances_awaited > 0) instances_awaited -= after.late;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Dependency& d : graph.dependencies()) {
      PlannedOp& before = ops[d.before.index()];
      if (d.lag != 0 || before.is_awaited || !before.may_be_dropped || !ops[d.after.index()].is_awaited) continue;
      before.is_awaited = changed = true;
    }
  }
  if (!patience) return;
  for (PlannedOp& op : ops)
    op.is_last_awaited = op.is_awaited && std::none_of(op.successors[0].begin(), op.successors[0].end(),
                                                       [&](OpId after) { return ops[after.index()].is_awaited; });
}

GpuTime Plan::compute_left(std::int64_t from, std::int64_t iterations) const {
  GpuTime left;
  for (std::size_t phase = 0; phase < phases.count(); ++phase)
    left += compute_total[phase] * phases.left(phase, from, iterations);
  return left;
}

Time Plan::compute_left(RoleId role, std::int64_t from, std::int64_t iterations) const {
  Time left;
  for (std::size_t phase = 0; phase < phases.count(); ++phase)
    left += compute_per_rank[phase][role.index()] * phases.left(phase, from, iterations);
  return left;
}

void Plan::find_chains() {
  if (!foldable || leaves_behind || roles.size() > 1 || phases.count() > 1 || rounds) return;
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
        op.successors[1].empty() && after.predecessor_instances[0][0] == 1 && after.predecessor_instances[1][0] == 0) {
      op.then = order[i + 1];
    }
  }
}

}  // namespace contend
