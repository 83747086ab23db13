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
      if (after < tasks || before < units || each.lag != 0) continue;
      const std::size_t unit = before < tasks ? tasks - 1 - before : last[before];
      if (unit >= last[after]) continue;
      last[after] = unit;
      changes = true;
    }
  }
  return last;
}

/// Copies the dependencies of a plan, whose operations have become `made`; none: it isn't there.
void add_dependencies(IterationGraph& graph, const IterationGraph& plan, const std::vector<OpId>& made,
                      const std::vector<bool>& in_forward, const PlannedStage& where,
                      const std::vector<PassOps>& passes, PlannedExchange& exchange) {
  // Task i < units is the forward pass of unit i, and tasks - 1 - i its backward pass.
  const std::size_t units = passes.size(), tasks = 2 * units;
  const auto end_of = [&](std::size_t op) {
    if (op >= tasks) return made[op];
    if (op + 1 == units) return where.begin;
    return op < units ? where.forward[op].last : passes[tasks - 1 - op].last;
  };
  for (const Dependency& each : plan.dependencies()) {
    const std::size_t before = each.before.index(), after = each.after.index();
    if ((before < tasks && after < tasks) || (before >= tasks && !made[before].valid())) continue;
    const bool goes_on = after < units || (after >= tasks && in_forward[after]);
    if (each.lag == 1 && before >= tasks && goes_on) exchange.ends.push_back(made[before]);
    if (after >= tasks && !made[after].valid()) continue;
    if (after >= tasks && each.lag == 1 && goes_on)
      exchange.crossings.push_back({end_of(before), made[after], 1});
    else if (after >= tasks)
      graph.add_dependency(end_of(before), made[after], each.lag);
    else if (each.lag == 0 && after < units)
      exchange.arrivals.emplace_back(made[before], after);
    else if (each.lag == 0)
      graph.add_dependency(made[before], passes[tasks - 1 - after].first);
  }
}

}  // namespace

std::vector<bool> ops_in_forward(const IterationGraph& plan, std::size_t units) {
  const std::size_t tasks = 2 * units;
  std::vector<bool> in_forward(plan.ops().size(), false);
  for (const Dependency& each : plan.dependencies())
    if (each.lag == 1 && each.after.index() >= tasks) in_forward[each.after.index()] = true;
  for (const Dependency& each : plan.dependencies())
    if (each.lag == 0) in_forward[each.after.index()] = false;
  for (bool changes = true; changes;) {
    changes = false;
    for (const Dependency& each : plan.dependencies()) {
      const std::size_t before = each.before.index(), after = each.after.index();
      if (after < tasks || in_forward[after] || each.lag != 0) continue;
      if (before + 1 >= units && !in_forward[before]) continue;
      in_forward[after] = changes = true;
    }
  }
  return in_forward;
}

bool goes_on_in_forward(const IterationGraph& plan, std::size_t units) {
  const std::vector<bool> in_forward = ops_in_forward(plan, units);
  return std::ranges::find(in_forward, true) != in_forward.end();
}

bool waits_for_begin(const IterationGraph& plan, std::size_t units) {
  return std::ranges::any_of(plan.dependencies(), [&](const Dependency& each) {
    return each.lag == 0 && each.before.index() + 1 == units && each.after.index() >= 2 * units;
  });
}

std::optional<std::string> unfit_for_stage(const FusedIteration& planned, std::size_t units) {
  const IterationGraph& plan = planned.graph;
  const std::size_t tasks = 2 * units;
  if (plan.phases().count() > 1) return "its iterations differ in what they exchange";
  for (const Op& op : plan.ops()) {
    if (op.kind == OpKind::message) return "it sends messages between pairs of workers";
    if (op.kind == OpKind::collective && op.scope == CollectiveScope::leaders)
      return "it has collectives among one rank of each server";
    if (op.kind == OpKind::collective && op.collective == CollectiveKind::exchange)
      return "it swaps weights between pairs of workers";
  }
  // What goes on in the next iteration has to end with its forward pass, and may not wait for its backward pass.
  const std::vector<bool> in_forward = ops_in_forward(plan, units);
  for (const Dependency& each : plan.dependencies()) {
    const std::size_t before = each.before.index(), after = each.after.index();
    if (before < tasks && after < tasks) continue;
    const bool from = before + 1 < units || in_forward[before], to = after < units || in_forward[after];
    if (each.lag == 0 ? from == to : !from && (to || after >= tasks)) continue;
    return "a part of its exchange goes on in the next iteration, whose forward pass does not wait for that part";
  }
  return std::nullopt;
}

PlannedExchange add_planned(IterationGraph& graph, const FusedIteration& planned, const PlannedStage& where,
                            const std::vector<PassOps>& passes) {
  const IterationGraph& plan = planned.graph;
  const std::size_t tasks = 2 * passes.size();
  const std::vector<std::size_t> last = last_units(plan, passes.size());
  const std::vector<bool> in_forward = ops_in_forward(plan, passes.size());
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
    if (in_forward[i] && !where.is_last) continue;
    const std::string name = fmt::format("{} of {}", op.name, where.stage);
    if (op.kind == OpKind::collective) {
      made[i] = graph.add_collective(name, op.collective, where.role, op.bytes, groups_of(op.scope, where));
      if (!in_forward[i]) exchange.collectives[last[i]].push_back(made[i]);
    } else if (op.kind == OpKind::timer) {
      made[i] = graph.add_timer(name, where.role, op.duration);
    } else {
      made[i] = graph.add_compute(name, where.role, op.duration);
    }
    if (op.channel.valid() || op.priority != 0)
      graph.put_into(op.channel.valid() ? channels[op.channel.index()] : ChannelId::none(), made[i], op.priority);
  }
  add_dependencies(graph, plan, made, in_forward, where, passes, exchange);
  for (const SentMessage& message : planned.messages) {
    PlannedExchange::Message& copy = exchange.messages.emplace_back(PlannedExchange::Message{message, {}});
    copy.sent.name = fmt::format("{} of {}", message.name, where.stage);
    copy.sent.ops.clear();
    for (const OpId op : message.ops) {
      if (!made[op.index()].valid()) continue;
      copy.sent.ops.push_back(made[op.index()]);
      if (!in_forward[op.index()]) copy.sum = made[op.index()];
    }
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
