#include "models/passes/host_launches.hpp"

#include "models/passes/graph_edit.hpp"
#include "sim/planned_rounds.hpp"

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
  Time of_round{};                ///< of the launches of the round that the rounds left out repeat
  bool is_round_pending = false;  ///< some of that has no task yet
  bool has_tasks = false;         ///< that round has tasks of its own
  OpId behind_round{};            ///< the last task that has taken some of its time
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
  task.round = of.round;
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
      : graph_{graph},
        fastest_{fastest},
        edit_{graph},
        phases_{graph.phases().count()},
        bounds_(graph.ops().size() * graph.roles().size()),
        leads_(graph.ops().size()) {
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
    const Time ready = ready_at(id, op.role.index());
    const bool is_late = !joins_ || work.waits || thread.now > ready;
    if (is_late) hold_back(id, op, thread);
    leads_[id.index()] = is_late ? Time::nanoseconds(-1) : ready - thread.now;
    set_bounds(id, op, is_late ? std::max(ready, thread.now) : ready);
    thread.pending += work.rest;
    thread.now += work.rest;
    if (is_like_rounds(op)) {
      thread.of_round += work.first + work.rest;
      thread.is_round_pending = true;
    }
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
    if (graph_.left_out().count > 0) {
      check_rounds();
      add_rounds_left_out();
    }
    return edit_.take();
  }

 private:
  /// The earliest end of an operation, in the time of a thread since one of its origins.
  struct Bound {
    int origin = -1;
    Time end;
  };

  [[nodiscard]] Bound& bound(OpId op, std::size_t thread) { return bounds_[op.index() * threads_.size() + thread]; }

  /// When all that the operation follows has ended at the earliest, in the time of a thread; negative: it isn't known.
  [[nodiscard]] Time ready_at(OpId id, std::size_t thread) {
    Time ready = Time::nanoseconds(-1);
    for (const OpId each : before_[id.index()])
      if (const Bound& known = bound(each, thread); known.origin == threads_[thread].origin)
        ready = std::max(ready, known.end);
    return ready;
  }

  /// Notes the earliest end of an operation that begins at that time of its own thread, or later. What follows an
  /// operation of another role ends as much later in the time of that one's thread, too: so a rank knows how long a
  /// micro-batch is on its way through the ranks behind it.
  void set_bounds(OpId id, const Op& op, Time begin) {
    for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
      const Time from = thread == op.role.index() ? begin : ready_at(id, thread);
      if (from >= Time{}) bound(id, thread) = {threads_[thread].origin, from + least(op)};
    }
  }

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
    thread.has_tasks = thread.has_tasks || is_like_rounds(of);
    if (std::exchange(thread.is_round_pending, false)) thread.behind_round = task;
    return task;
  }

  /// True if it is in the round that those are like that the graph leaves out.
  [[nodiscard]] bool is_like_rounds(const Op& op) const {
    return graph_.left_out().count > 0 && op.round == graph_.left_out().like;
  }

  /// Where a round has no tasks, one behind all rounds takes the time of those, and of the rounds left out.
  void add_rounds_left_out() {
    for (const HostThread& thread : threads_)
      if (!thread.has_tasks && thread.behind_round.valid())
        edit_.lengthen(thread.behind_round, thread.of_round * graph_.left_out().count);
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

  /// A host that is in time for the operations of a round, by no less than for the operations of the round before, is
  /// so in all further rounds: by how much follows from the rounds before, and grows with them. Where it is less,
  /// launches may come late in the rounds that are left out.
  void check_rounds() const {
    std::vector<std::vector<OpId>> rounds;
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
      if (graph_.ops()[i].round == kNoRound) continue;
      const auto round = static_cast<std::size_t>(graph_.ops()[i].round);
      if (rounds.size() <= round) rounds.resize(round + 1);
      rounds[round].emplace_back(i);
    }
    for (std::size_t round = rounds.size() / 4; round < 3 * rounds.size() / 4; ++round) {
      const std::vector<OpId>&before = rounds[round], &after = rounds[round + 1];
      if (before.size() != after.size()) throw UnleaptRounds{};
      for (std::size_t i = 0; i < before.size(); ++i)
        if (leads_[after[i].index()] < leads_[before[i].index()]) throw UnleaptRounds{};
    }
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
  std::vector<Bound> bounds_;  ///< by operation and thread
  std::vector<Time> leads_;  ///< by operation: how long before it its launch is over; negative: it waits for the launch
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
