#include "models/host_launches.hpp"

#include <algorithm>
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

/// Has the task come after those of the thread so far.
void append(IterationGraph& graph, HostThread& thread, OpId task) {
  std::set<OpId> before;
  for (std::size_t phase = 0; phase < thread.last.size(); ++phase) {
    if (!graph.ops()[task.index()].is_in(phase)) continue;
    if (thread.last[phase].valid())
      before.insert(thread.last[phase]);
    else
      thread.first[phase] = task;
    thread.last[phase] = task;
  }
  for (const OpId each : before) graph.add_dependency(each, task);
}

/// Has the thread begin an iteration when it has ended the one before.
void repeat(IterationGraph& graph, const HostThread& thread) {
  std::set<std::pair<OpId, OpId>> pairs;
  for (const OpId last : thread.last)
    for (const OpId first : thread.first)
      if (last.valid() && first.valid()) pairs.emplace(last, first);
  for (const auto& pair : pairs) graph.add_dependency(pair.first, pair.second, 1);
}

bool is_launched(const Op& op) {
  return op.is_traffic() || (op.runs_on_lane() && op.lane != Lane::host);
}

/// Where ranks may be left behind, a collective may wait for one operation of each rank only
/// (IterationGraph::validate). This is a task of no time on a stream, which waits for all that the collective does.
OpId joined(IterationGraph& graph, std::vector<Dependency>& dependencies, OpId collective) {
  const Op op = graph.ops()[collective.index()];  // a copy, because operations are added
  const OpId joint = graph.add_task("begin " + op.name, op.role, Time{}, stream_lane(kMostStreams - 1));
  if (op.phase != kEveryPhase) graph.put_into_phase(static_cast<std::size_t>(op.phase), joint);
  for (Dependency& each : dependencies)
    if (each.after == collective && each.lag == 0) each.after = joint;
  graph.add_dependency(joint, collective);
  return joint;
}

}  // namespace

IterationGraph with_launches(IterationGraph graph, Time launch) {
  if (launch == Time{}) return graph;
  const std::vector<OpId> order = program_order(graph);
  std::vector<Dependency> dependencies = graph.dependencies();
  const std::size_t phases = graph.phases().count();
  IterationGraph made = graph.without_operations();
  made.set_phases(graph.phases());
  for (const Op& op : graph.ops()) made.add(op);
  std::vector<HostThread> threads(graph.roles().size(),
                                  {std::vector<OpId>(phases, OpId::none()), std::vector<OpId>(phases, OpId::none())});
  for (const OpId id : order) {
    const Op op = graph.ops()[id.index()];
    HostThread& thread = threads[op.role.index()];
    if (op.kind == OpKind::task && op.lane == Lane::host) append(made, thread, id);
    if (!is_launched(op)) continue;
    const OpId task = made.add_task("launch " + op.name, op.role, launch, Lane::host);
    if (op.phase != kEveryPhase) made.put_into_phase(static_cast<std::size_t>(op.phase), task);
    append(made, thread, task);
    const bool may_lack_ranks = op.kind == OpKind::collective && graph.roles()[op.role.index()].late > 0;
    made.add_dependency(task, may_lack_ranks ? joined(made, dependencies, id) : id);
  }
  for (const HostThread& thread : threads) repeat(made, thread);
  for (const Dependency& each : dependencies) made.add_dependency(each.before, each.after, each.lag);
  return made;
}

}  // namespace contend
