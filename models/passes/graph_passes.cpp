#include "models/passes/graph_passes.hpp"

#include "models/passes/graph_edit.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
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

/// An exchange with operations of its own, and others that are added before, between and after them.
class WorkAround {
 public:
  WorkAround(GraphEdit& edit, SentMessage& message, std::map<std::pair<RoleId, StageSite>, OpId>& last_at)
      : edit_{edit}, message_{message}, last_at_{last_at} {}

  void add(const ExchangeWork& work, int element_bytes, int workers) {
    std::vector<ExchangeStage> stages;
    for (const OpId op : message_.ops) stages.push_back(stage_of(edit_.ops()[op.index()]));
    wrap(work, {message_.gradients, message_.dense, element_bytes, workers}, stages);
    std::vector<OpId> all;
    std::size_t own = 0;
    for (const ExchangeStage& each : stages) {
      const bool is_own = own < message_.ops.size() && each.name == edit_.ops()[message_.ops[own].index()].name;
      all.push_back(is_own ? message_.ops[own++] : added(each));
    }
    if (all.size() == message_.ops.size()) return;
    link(all);
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
    OpId& last = last_at_[{role(), stage.site}];
    if (last.valid()) edit_.depend(last, made);
    return last = made;
  }

  [[nodiscard]] RoleId role() const { return edit_.ops()[message_.ops.front().index()].role; }

  /// What gives the gradients now leads to the first of all, and what waits for them waits for the last. What only
  /// orders collectives, such as their turns, stays with these.
  void link(const std::vector<OpId>& all) {
    const OpId first = message_.ops.front(), last = message_.ops.back();
    const auto takes_data = [&](const Dependency& each) {
      const Op& after = edit_.ops()[each.after.index()];
      return each.before == last && (after.kind != OpKind::timer || after.host.any());
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
      const auto is_there = [&](const Dependency& each) {
        return each.before == all[i] && each.after == all[i + 1] && each.lag == 0;
      };
      if (std::ranges::none_of(edit_.dependencies(), is_there)) edit_.depend(all[i], all[i + 1]);
    }
  }

  /// A stream runs kernels in the order in which tasks launch them.
  void run_before_next(const std::vector<OpId>& givers, OpId kernel) {
    edit_.for_each([&](Dependency& each) {
      if (std::ranges::find(givers, each.before) != givers.end() && each.after != kernel && edit_.is_next_task(each))
        edit_.depend(kernel, each.after);
    });
  }

  GraphEdit& edit_;
  SentMessage& message_;
  std::map<std::pair<RoleId, StageSite>, OpId>& last_at_;
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

void add_exchange_work(FusedIteration& iteration, int element_bytes,
                       const std::function<const ExchangeWork&(RoleId)>& work) {
  GraphEdit edit{iteration.graph};
  std::map<std::pair<RoleId, StageSite>, OpId> last_at;
  for (SentMessage& message : iteration.messages) {
    const auto sends = [&](OpId op) { return edit.ops()[op.index()].kind == OpKind::collective; };
    const Op sent = edit.ops()[std::ranges::find_if(message.ops, sends)->index()];
    const int all = iteration.graph.roles()[sent.role.index()].ranks;
    WorkAround{edit, message, last_at}.add(work(sent.role), element_bytes,
                                           sent.scope == CollectiveScope::groups ? sent.groups.most() : all);
  }
  iteration.graph = edit.take();
}

void share_sums(IterationGraph& graph) {
  IterationGraph shared = graph.without_operations();
  for (Op op : graph.ops()) {
    if (op.kind == OpKind::collective) {
      if (op.collective != CollectiveKind::all_reduce || op.scope != CollectiveScope::all)
        throw InputError{fmt::format("`{}` is no sum over all ranks, of which each could keep its share", op.name)};
      op.collective = CollectiveKind::reduce_scatter;
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
