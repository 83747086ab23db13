#include "models/passes/graph_passes.hpp"

#include "models/passes/graph_edit.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

/// By operation: true if a task comes before it in its iteration.
std::vector<bool> behind_tasks(const IterationGraph& graph) {
  std::vector<bool> behind(graph.ops().size(), false);
  for (bool changes = true; changes;) {
    changes = false;
    for (const Dependency& each : graph.dependencies()) {
      if (each.lag != 0 || behind[each.after.index()]) continue;
      if (graph.ops()[each.before.index()].kind != OpKind::compute && !behind[each.before.index()]) continue;
      behind[each.after.index()] = changes = true;
    }
  }
  return behind;
}

/// The last task of each role that has one.
std::map<RoleId, OpId> last_tasks(const GraphEdit& edit) {
  std::vector<bool> has_next(edit.ops().size(), false);
  for (const Dependency& each : edit.dependencies())
    if (edit.is_next_task(each)) has_next[each.before.index()] = true;
  std::map<RoleId, OpId> last;
  for (std::size_t i = 0; i < edit.ops().size(); ++i)
    if (edit.computes(OpId{i}) && !has_next[i]) last[edit.ops()[i].role] = OpId{i};
  return last;
}

/// By operation: its place in an order in which operations of an iteration can be executed, the first one of those that
/// wait for no other first.
std::vector<std::size_t> places_in_order(const IterationGraph& graph) {
  std::vector<int> waits_for(graph.ops().size(), 0);
  std::vector<std::vector<std::size_t>> successors(graph.ops().size());
  for (const Dependency& each : graph.dependencies()) {
    if (each.lag != 0) continue;
    ++waits_for[each.after.index()];
    successors[each.before.index()].push_back(each.after.index());
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> next;
  for (std::size_t i = 0; i < waits_for.size(); ++i)
    if (waits_for[i] == 0) next.push(i);
  std::vector<std::size_t> places(graph.ops().size(), 0);
  for (std::size_t place = 0; !next.empty(); ++place) {
    const std::size_t op = next.top();
    next.pop();
    places[op] = place;
    for (const std::size_t after : successors[op])
      if (--waits_for[after] == 0) next.push(after);
  }
  return places;
}

/// Work that goes one after the other on a role beside the GPU: by role and site, with the place of its exchange.
using SiteQueues = std::map<std::pair<RoleId, StageSite>, std::vector<std::pair<std::size_t, OpId>>>;

/// An exchange with operations of its own, and others that are added before, between and after them.
class WorkAround {
 public:
  WorkAround(GraphEdit& edit, SentMessage& message, const std::set<OpId>& exchanged,
             const std::vector<std::size_t>& places, SiteQueues& queues)
      : edit_{edit}, message_{message}, exchanged_{exchanged}, places_{places}, queues_{queues} {}

  void add(const ExchangeWork& work, int element_bytes, int workers) {
    std::vector<ExchangeStage> stages;
    for (const OpId op : message_.ops) stages.push_back(stage_of(edit_.ops()[op.index()]));
    wrap(work, {message_.gradients, message_.dense, element_bytes, workers}, stages);
    std::vector<OpId> all;
    std::size_t own = 0;
    std::vector<bool> is_own;
    for (const ExchangeStage& each : stages) {
      is_own.push_back(own < message_.ops.size() && each.name == edit_.ops()[message_.ops[own].index()].name);
      all.push_back(is_own.back() ? message_.ops[own++] : added(each));
    }
    if (all.size() == message_.ops.size()) return;
    link(all, is_own);
    message_.ops = std::move(all);
  }

 private:
  static ExchangeStage stage_of(const Op& op) {
    if (op.kind == OpKind::collective) return ExchangeStage::send(op.name, op.collective, op.bytes, op.scope);
    return ExchangeStage::kernel(op.name, op.duration);
  }

  OpId added(const ExchangeStage& stage) {
    Op op;
    op.name = fmt::format("{} {}", stage.name, message_.name);
    op.kind = stage.site == StageSite::gpu ? OpKind::compute : OpKind::timer;
    op.role = role();
    op.duration = stage.duration;
    const OpId made = edit_.add(std::move(op));
    if (stage.site == StageSite::gpu) return made;
    const OpId with = stage.site == StageSite::to_gpu ? message_.ops.back() : message_.ops.front();
    queues_[{role(), stage.site}].emplace_back(places_[with.index()], made);
    return made;
  }

  [[nodiscard]] RoleId role() const { return edit_.ops()[message_.ops.front().index()].role; }

  /// What gives the gradients now leads to the first of all, and what waits for them waits for the last. What only
  /// orders collectives, such as their turns, stays with these.
  void link(const std::vector<OpId>& all, const std::vector<bool>& is_own) {
    const OpId first = message_.ops.front(), last = message_.ops.back();
    const auto takes_data = [&](const Dependency& each) {
      const Op& after = edit_.ops()[each.after.index()];
      return each.before == last && !exchanged_.contains(each.after) &&
             (after.kind != OpKind::timer || after.host.any());
    };
    std::vector<OpId> givers;
    edit_.for_each([&](Dependency& each) {
      if (each.after == first && edit_.computes(each.before) && all.front() != first) {
        givers.push_back(each.before);
        each.after = all.front();
      }
      if (takes_data(each) && all.back() != last) each.before = all.back();
    });
    if (edit_.computes(all.front()) && all.front() != first) run_before_next(givers, all.front());
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      if (!is_own[i] || !is_own[i + 1]) edit_.depend(all[i], all[i + 1]);
    }
  }

  /// A stream runs kernels in the order in which tasks launch them.
  void run_before_next(const std::vector<OpId>& givers, OpId kernel) {
    edit_.for_each([&](Dependency& each) {
      const auto gives = [&](OpId op) { return std::ranges::find(givers, op) != givers.end(); };
      if (gives(each.before) && each.after != kernel && !gives(each.after) && edit_.is_next_task(each))
        edit_.depend(kernel, each.after);
    });
  }

  GraphEdit& edit_;
  SentMessage& message_;
  const std::set<OpId>& exchanged_;  // operations of all messages
  const std::vector<std::size_t>& places_;
  SiteQueues& queues_;
};

}  // namespace

void begin_with(IterationGraph& graph, const std::string& name, Time duration) {
  if (duration == Time{}) return;
  const std::vector<bool> behind = behind_tasks(graph);
  GraphEdit edit{graph};
  const std::map<RoleId, OpId> last = last_tasks(edit);
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const OpId first{i};
    if (!edit.computes(first) || behind[i]) continue;
    const RoleId role = graph.ops()[i].role;
    Op wait;
    wait.name = name;
    wait.role = role;
    wait.duration = duration;
    const OpId task = edit.add(std::move(wait));
    bool waits = false;
    edit.for_each([&](Dependency& each) {
      if (each.after != first || each.lag == 0 || !edit.computes(each.before)) return;
      if (graph.ops()[each.before.index()].role != role) return;
      each.after = task;
      waits = true;
    });
    if (!waits) edit.depend(last.at(role), task, 1);
    edit.depend(task, first);
  }
  graph = edit.take();
}

void load_beside(IterationGraph& graph, Time loading, Time filling) {
  if (loading == Time{} && filling == Time{}) return;
  const std::vector<bool> behind = behind_tasks(graph);
  GraphEdit edit{graph};
  const std::map<RoleId, OpId> last = last_tasks(edit);
  std::map<RoleId, OpId> begins;
  const auto add_timer = [&](const char* name, RoleId role, Time duration) {
    Op timer;
    timer.name = name;
    timer.kind = OpKind::timer;
    timer.role = role;
    timer.duration = duration;
    return edit.add(std::move(timer));
  };
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const OpId first{i};
    if (!edit.computes(first) || behind[i]) continue;
    const RoleId role = graph.ops()[i].role;
    if (!begins.contains(role)) {
      const OpId fill = add_timer("fill buffer", role, filling), load = add_timer("load input", role, loading);
      edit.depend(last.at(role), fill, 1);
      edit.depend(load, fill, 1);
      edit.depend(fill, load);
      begins.emplace(role, fill);
    }
    edit.depend(begins.at(role), first);
  }
  graph = edit.take();
}

void add_exchange_work(FusedIteration& iteration, int element_bytes,
                       const std::function<const ExchangeWork&(RoleId)>& work) {
  GraphEdit edit{iteration.graph};
  const std::vector<std::size_t> places = places_in_order(iteration.graph);
  SiteQueues queues;
  std::set<OpId> exchanged;
  for (const SentMessage& message : iteration.messages) exchanged.insert(message.ops.begin(), message.ops.end());
  for (SentMessage& message : iteration.messages) {
    const auto sends = [&](OpId op) { return edit.ops()[op.index()].kind == OpKind::collective; };
    const Op sent = edit.ops()[std::ranges::find_if(message.ops, sends)->index()];
    const int all = iteration.graph.roles()[sent.role.index()].ranks;
    WorkAround{edit, message, exchanged, places, queues}.add(
        work(sent.role), element_bytes, sent.scope == CollectiveScope::groups ? sent.groups.most() : all);
  }
  for (auto& [where, queue] : queues) {
    std::ranges::stable_sort(queue, {}, &std::pair<std::size_t, OpId>::first);
    for (std::size_t i = 0; i + 1 < queue.size(); ++i) edit.depend(queue[i].second, queue[i + 1].second);
  }
  iteration.graph = edit.take();
}

void share_sums(IterationGraph& graph, int weight_bytes, int gradient_bytes) {
  const auto is_half = [](const Op& op) {
    return op.kind == OpKind::collective && op.collective == CollectiveKind::reduce_scatter;
  };
  const bool has_halves = std::ranges::any_of(graph.ops(), is_half);
  IterationGraph shared = graph.without_operations();
  for (Op op : graph.ops()) {
    if (op.kind == OpKind::collective) {
      const bool gathers = has_halves && op.collective == CollectiveKind::all_gather;
      if ((op.collective != CollectiveKind::all_reduce && !is_half(op) && !gathers) || op.scope != CollectiveScope::all)
        throw InputError{fmt::format("`{}` is no sum over all ranks, of which each could keep its share", op.name)};
      if (op.collective == CollectiveKind::all_reduce) op.collective = CollectiveKind::reduce_scatter;
      if (gathers) op.bytes = Bytes{op.bytes.count() / gradient_bytes * weight_bytes};
    }
    shared.add(std::move(op));
  }
  for (const Dependency& each : graph.dependencies()) shared.add_dependency(each.before, each.after, each.lag);
  graph = std::move(shared);
}

void leave_ranks_behind(FusedIteration& iteration, int late, const std::optional<Patience>& patience, int copy_ranks) {
  IterationGraph& graph = iteration.graph;
  const std::vector<Role>& roles = graph.roles();
  if (roles.size() > 1)
    throw InputError{
        fmt::format("a copy of the model lies on ranks of {} roles, such as `{}` and `{}`, which would have "
                    "to be late together",
                    roles.size(), roles[0].name, roles[1].name)};
  if (copy_ranks > 1)
    throw InputError{
        fmt::format("a copy of the model lies on {} ranks, which would have to be late together", copy_ranks)};
  graph.leave_behind(RoleId{0U}, late, patience);
  graph.validate();
  const std::vector<bool> is_task = graph.tasks_before_joins();
  for (const SentMessage& message : iteration.messages) {
    const Op& sent = graph.ops()[message.ops.front().index()];
    for (const Dependency& each : graph.dependencies()) {
      const Op& before = graph.ops()[each.before.index()];
      if (each.after != message.ops.front() || each.lag != 0 || before.kind != OpKind::compute) continue;
      if (!is_task[each.before.index()])
        throw InputError{
            fmt::format("`{}` waits for `{}`, which begins when all ranks are there", sent.name, before.name)};
    }
  }
}

}  // namespace contend
