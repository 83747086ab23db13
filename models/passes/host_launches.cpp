#include "models/passes/host_launches.hpp"

#include "models/passes/graph_edit.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {
namespace {

/// The operations in program order (with_launches).
std::vector<OpId> program_order(const IterationGraph& graph) {
  const std::vector<Op>& ops = graph.ops();
  std::vector<int> waits_for(ops.size(), 0);
  std::vector<std::vector<OpId>> successors(ops.size());
  for (const Dependency& each : graph.dependencies()) {
    if (each.lag != 0) continue;
    ++waits_for[each.after.index()];
    successors[each.before.index()].push_back(each.after);
  }
  using Place = std::tuple<bool, std::int32_t, OpId>;
  std::priority_queue<Place, std::vector<Place>, std::greater<>> next;
  const auto add = [&](OpId id) {
    const Op& op = ops[id.index()];
    next.emplace(!op.is_traffic(), op.runs_on_lane() ? op.priority : 0, id);
  };
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (waits_for[i] == 0) add(OpId{i});
  std::vector<OpId> order;
  while (!next.empty()) {
    order.push_back(std::get<OpId>(next.top()));
    next.pop();
    for (const OpId after : successors[order.back().index()])
      if (--waits_for[after.index()] == 0) add(after);
  }
  return order;
}

/// The thread that launches on the hosts of a role: its last task in each phase so far, and its first.
struct HostThread {
  std::vector<OpId> first, last;  ///< by phase; none at first
};

/// Puts the task behind the tasks that the thread has so far.
void append(GraphEdit& edit, HostThread& thread, OpId task) {
  std::set<OpId> before;
  for (std::size_t phase = 0; phase < thread.last.size(); ++phase) {
    if (!edit.ops()[task.index()].is_in(phase)) continue;
    if (thread.last[phase].valid())
      before.insert(thread.last[phase]);
    else
      thread.first[phase] = task;
    thread.last[phase] = task;
  }
  for (const OpId each : before) edit.depend(each, task);
}

/// Has the thread begin an iteration when it has ended the one before.
void repeat(GraphEdit& edit, const HostThread& thread) {
  std::set<std::pair<OpId, OpId>> pairs;
  for (const OpId last : thread.last)
    for (const OpId first : thread.first)
      if (last.valid() && first.valid()) pairs.emplace(last, first);
  for (const auto& pair : pairs) edit.depend(pair.first, pair.second, 1);
}

bool is_launched(const Op& op) {
  return op.is_traffic() || (op.runs_on_lane() && op.lane != Lane::host);
}

OpId add_task(GraphEdit& edit, const char* what, const Op& of, Time duration, Lane lane) {
  Op task;
  task.name = what + of.name;
  task.kind = OpKind::task;
  task.role = of.role;
  task.lane = lane;
  task.duration = duration;
  task.phase = of.phase;
  return edit.add(std::move(task));
}

/// Where ranks may be left behind, a collective may wait for one operation of each rank only
/// (IterationGraph::validate). This is a task of no time on a stream, which waits for all operations before the
/// collective.
OpId joined(GraphEdit& edit, const Op& collective, OpId id) {
  const OpId joint = add_task(edit, "begin ", collective, Time{}, stream_lane(kMostStreams - 1));
  edit.for_each([&](Dependency& each) {
    if (each.after == id && each.lag == 0) each.after = joint;
  });
  edit.depend(joint, id);
  return joint;
}

}  // namespace

IterationGraph with_launches(const IterationGraph& graph, Time launch) {
  if (launch == Time{}) return graph;
  const std::size_t phases = graph.phases().count();
  GraphEdit edit{graph};
  std::vector<HostThread> threads(graph.roles().size(),
                                  {std::vector<OpId>(phases, OpId::none()), std::vector<OpId>(phases, OpId::none())});
  for (const OpId id : program_order(graph)) {
    const Op& op = graph.ops()[id.index()];
    HostThread& thread = threads[op.role.index()];
    if (op.kind == OpKind::task && op.lane == Lane::host) append(edit, thread, id);
    if (!is_launched(op)) continue;
    const OpId task = add_task(edit, "launch ", op, launch, Lane::host);
    append(edit, thread, task);
    const bool may_lack_ranks = op.kind == OpKind::collective && graph.roles()[op.role.index()].late > 0;
    edit.depend(task, may_lack_ranks ? joined(edit, op, id) : id);
  }
  for (const HostThread& thread : threads) repeat(edit, thread);
  return edit.take();
}

}  // namespace contend
