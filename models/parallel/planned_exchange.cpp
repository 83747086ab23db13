#include "models/parallel/planned_exchange.hpp"

#include <cstddef>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

/// The groups in which a collective of a plan runs.
RankGroups groups_of(CollectiveScope scope, const PlannedStage& where) {
  const RankGroups all = where.groups;
  if (scope == CollectiveScope::server) return {all.stride, where.per_server};
  if (scope == CollectiveScope::peers) return {all.stride * where.per_server, all.size / where.per_server};
  return all;
}

/// By operation of the plan: the unit whose backward pass is the last that it waits for. Units end in falling order.
std::vector<std::size_t> last_units(const IterationGraph& plan, std::size_t units) {
  const std::size_t tasks = 2 * units;
  std::vector<std::size_t> last(plan.ops().size(), units - 1);
  for (bool changes = true; changes;) {
    changes = false;
    for (const Dependency& each : plan.dependencies()) {
      const std::size_t before = each.before.index(), after = each.after.index();
      if (after < tasks || each.lag != 0) continue;
      const std::size_t unit = before < tasks ? tasks - 1 - before : last[before];
      if (unit >= last[after]) continue;
      last[after] = unit;
      changes = true;
    }
  }
  return last;
}

}  // namespace

PlannedExchange add_planned(IterationGraph& graph, const FusedIteration& planned, const PlannedStage& where,
                            const std::vector<PassOps>& passes) {
  const IterationGraph& plan = planned.graph;
  const std::size_t tasks = 2 * passes.size();
  const std::vector<std::size_t> last = last_units(plan, passes.size());
  std::vector<ChannelId>& channels = *where.channels;
  for (std::size_t i = channels.size(); i < plan.channels().size(); ++i) {
    const Channel& each = plan.channels()[i];
    channels.push_back(graph.add_channel(fmt::format("{} of {} on {}", each.name, where.stage, where.rank),
                                         each.messages, each.window));
  }
  PlannedExchange exchange;
  exchange.collectives.resize(passes.size());
  std::vector<OpId> made(plan.ops().size());
  for (std::size_t i = tasks; i < plan.ops().size(); ++i) {
    const Op& op = plan.ops()[i];
    const std::string name = fmt::format("{} of {}", op.name, where.stage);
    if (op.kind == OpKind::collective) {
      made[i] = graph.add_collective(name, op.collective, where.role, op.bytes, groups_of(op.scope, where));
      exchange.collectives[last[i]].push_back(made[i]);
    } else if (op.kind == OpKind::timer) {
      made[i] = graph.add_timer(name, where.role, op.duration);
    } else {
      made[i] = graph.add_compute(name, where.role, op.duration);
    }
    if (op.channel.valid() || op.priority != 0)
      graph.put_into(op.channel.valid() ? channels[op.channel.index()] : ChannelId::none(), made[i], op.priority);
  }
  // Task i < passes is the forward pass of unit i, and tasks - 1 - i its backward pass.
  for (const Dependency& each : plan.dependencies()) {
    const std::size_t before = each.before.index(), after = each.after.index();
    if (before < tasks && after < tasks) continue;
    if (before < tasks)
      graph.add_dependency(passes[tasks - 1 - before].last, made[after]);
    else if (after >= tasks)
      graph.add_dependency(made[before], made[after]);
    else if (each.lag == 0)
      graph.add_dependency(made[before], passes[tasks - 1 - after].first);
    else
      exchange.ends.push_back(made[before]);
  }
  for (SentMessage message : planned.messages) {
    message.name = fmt::format("{} of {}", message.name, where.stage);
    for (OpId& op : message.ops) op = made[op.index()];
    exchange.messages.push_back(std::move(message));
  }
  return exchange;
}

std::vector<OpId> put_in_turn(IterationGraph& graph, const PlannedExchange& planned, const std::vector<PassOps>& passes,
                              bool leaves_servers, const std::vector<std::vector<OpId>>& experts) {
  std::vector<OpId> turn, since;  // the last of the others, and planned collectives that were added after it
  const auto take = [&](const std::vector<OpId>& others) {
    if (others.empty()) return;
    for (const OpId op : others) {
      for (const OpId each : turn) graph.add_dependency(each, op);
      for (const OpId each : since) graph.add_dependency(each, op);
    }
    turn = others;
    since.clear();
  };
  for (std::size_t unit = passes.size(); unit-- > 0;) {
    if (leaves_servers && passes[unit].turn.valid()) take({passes[unit].turn});
    for (const OpId op : planned.collectives[unit]) {
      for (const OpId each : turn) graph.add_dependency(each, op);
      since.push_back(op);
    }
    take(experts[unit]);
  }
  return since;
}

}  // namespace contend
