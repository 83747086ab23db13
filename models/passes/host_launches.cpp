#include "models/passes/host_launches.hpp"

#include "models/passes/graph_edit.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <set>
#include <string>
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
  Time pending;                   ///< work that no task has yet
  Time now{};                     ///< since `origin`
  int origin = 0;                 ///< the number of times that the thread has waited
  OpId last_compute{};            ///< of its role, which every iteration has
};

bool is_launched(const Op& op) {
  return op.is_traffic() || (op.runs_on_lane() && op.lane != Lane::host);
}

OpId add_task(GraphEdit& edit, const std::string& name, const Op& of, Time duration, Lane lane) {
  Op task;
  task.name = name;
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
  const OpId joint = add_task(edit, "begin " + collective.name, collective, Time{}, stream_lane(kMostStreams - 1));
  edit.for_each([&](Dependency& each) {
    if (each.after == id && each.lag == 0) each.after = joint;
  });
  edit.depend(joint, id);
  return joint;
}

/// Has hosts launch (with_launches).
class Launcher {
 public:
  Launcher(const IterationGraph& graph, Time step, double fastest)
      : graph_{graph}, fastest_{fastest}, edit_{graph}, phases_{graph.phases().count()}, bounds_(graph.ops().size()) {
    const std::vector<OpId> none(phases_, OpId::none());
    threads_.assign(graph.roles().size(), {none, none, step, step, 0, {}});
    joins_ = phases_ == 1;
    for (const Role& role : graph.roles()) joins_ = joins_ && role.late == 0;
    before_.resize(graph.ops().size());
    for (const Dependency& each : graph.dependencies())
      if (each.lag == 0) before_[each.after.index()].push_back(each.before);
    if (!joins_) flush_all("begin of ");
  }

  void launch(OpId id, const LaunchWork& work) {
    const Op& op = graph_.ops()[id.index()];
    HostThread& thread = thread_of(op);
    if (op.kind == OpKind::compute && op.phase == kEveryPhase) thread.last_compute = id;
    if (work.waits) wait(id, op, thread);
    thread.pending += work.first;
    thread.now += work.first;
    // When all that the operation follows on its ranks has ended, and when it begins at the earliest.
    Time ready = Time::nanoseconds(-1);
    for (const OpId each : before_[id.index()])
      if (const Bound& bound = bounds_[each.index()]; bound.thread == &thread && bound.origin == thread.origin)
        ready = std::max(ready, bound.end);
    const bool is_late = !joins_ || work.waits || thread.now > ready;
    if (is_late) hold_back(id, op, thread);
    bounds_[id.index()] = {&thread, thread.origin, std::max(ready, is_late ? thread.now : ready) + least(op)};
    thread.pending += work.rest;
    thread.now += work.rest;
    if (!joins_) flush("rest of ", op, thread);
  }
  /// A task that the graph has on the host.
  void take_turn(OpId id) {
    const Op& op = graph_.ops()[id.index()];
    HostThread& thread = thread_of(op);
    flush("before ", op, thread);
    append(thread, id);
    restart(thread);
  }

  [[nodiscard]] IterationGraph take(bool waits) {
    flush_all("launches of ");
    for (const HostThread& thread : threads_) repeat(thread, waits);
    return edit_.take();
  }

 private:
  /// The earliest end of an operation, in the time of a thread.
  struct Bound {
    const HostThread* thread = nullptr;
    int origin = 0;
    Time end;
  };

  /// What an operation takes at least.
  [[nodiscard]] Time least(const Op& op) const {
    if (op.is_traffic()) return {};
    return Time::nanoseconds(static_cast<std::int64_t>(static_cast<double>(op.duration.ns()) / fastest_));
  }

  HostThread& thread_of(const Op& op) { return threads_[op.role.index()]; }
  static void restart(HostThread& thread) {
    ++thread.origin;
    thread.now = Time{};
  }

  /// Puts the task behind the tasks that the thread has so far.
  void append(HostThread& thread, OpId task) {
    std::set<OpId> before;
    for (std::size_t phase = 0; phase < thread.last.size(); ++phase) {
      if (!edit_.ops()[task.index()].is_in(phase)) continue;
      if (thread.last[phase].valid())
        before.insert(thread.last[phase]);
      else
        thread.first[phase] = task;
      thread.last[phase] = task;
    }
    for (const OpId each : before) edit_.depend(each, task);
  }

  /// Makes a task of what is pending, in the phase of an operation. None if nothing is.
  OpId flush(const char* what, const Op& of, HostThread& thread) {
    if (thread.pending == Time{}) return {};
    const OpId task = add_task(edit_, what + of.name, of, std::exchange(thread.pending, Time{}), Lane::host);
    append(thread, task);
    return task;
  }

  void flush_all(const char* what) {
    for (std::size_t role = 0; role < threads_.size(); ++role) {
      Op any;
      any.name = graph_.roles()[role].name;
      any.role = RoleId{role};
      flush(what, any, threads_[role]);
    }
  }

  /// Has the operation wait for its launch.
  void hold_back(OpId id, const Op& op, HostThread& thread) {
    std::set<OpId> launches;
    if (const OpId task = flush("launch ", op, thread); task.valid()) {
      launches.insert(task);
    } else {
      for (std::size_t phase = 0; phase < phases_; ++phase)
        if (op.is_in(phase) && thread.last[phase].valid()) launches.insert(thread.last[phase]);
    }
    if (launches.empty()) return;
    const bool may_lack_ranks = op.kind == OpKind::collective && graph_.roles()[op.role.index()].late > 0;
    const OpId held = may_lack_ranks ? joined(edit_, op, id) : id;
    for (const OpId each : launches) edit_.depend(each, held);
  }

  void wait(OpId id, const Op& op, HostThread& thread) {
    flush("before ", op, thread);
    const OpId task = add_task(edit_, "wait for " + op.name, op, Time{}, Lane::host);
    append(thread, task);
    for (const OpId each : before_[id.index()]) edit_.depend(each, task);
    restart(thread);
  }

  /// Has the thread begin an iteration when it has ended the one before, and with `waits` its device has, too.
  void repeat(const HostThread& thread, bool waits) {
    std::set<std::pair<OpId, OpId>> pairs;
    for (const OpId first : thread.first) {
      if (!first.valid()) continue;
      for (const OpId last : thread.last)
        if (last.valid()) pairs.emplace(last, first);
      if (waits && thread.last_compute.valid()) pairs.emplace(thread.last_compute, first);
    }
    for (const auto& pair : pairs) edit_.depend(pair.first, pair.second, 1);
  }

  const IterationGraph& graph_;
  double fastest_;
  GraphEdit edit_;
  std::size_t phases_;
  bool joins_;  ///< launches that are in time have no task of their own
  std::vector<HostThread> threads_;
  std::vector<Bound> bounds_;
  std::vector<std::vector<OpId>> before_;
};

}  // namespace

IterationGraph with_launches(const IterationGraph& graph, const LaunchWorkOf& work, Time step, bool waits,
                             double fastest) {
  Launcher launcher{graph, step, std::max(fastest, 1.0)};
  for (const OpId id : program_order(graph)) {
    const Op& op = graph.ops()[id.index()];
    if (op.kind == OpKind::task && op.lane == Lane::host)
      launcher.take_turn(id);
    else if (is_launched(op))
      launcher.launch(id, work(id, op));
  }
  return launcher.take(waits);
}

}  // namespace contend
