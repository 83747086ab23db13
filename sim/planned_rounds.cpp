#include "sim/planned_rounds.hpp"

#include "sim/graph_plan.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace contend {

namespace {

constexpr std::int64_t kNoStep = std::numeric_limits<std::int64_t>::min();

bool are_alike(const Op& a, const Op& b) {
  const auto essence = [](const Op& op) {
    return std::tie(op.kind, op.role, op.peer, op.joint, op.lane, op.duration, op.bytes, op.collective, op.scope,
                    op.groups, op.roles, op.times, op.servers, op.channel, op.phase, op.host);
  };
  return essence(a) == essence(b) && !a.counts() && !b.counts() && a.phase == kEveryPhase;
}

}  // namespace

PlannedRounds::PlannedRounds(const Plan& plan, const RoundsLeftOut& rounds)
    : left_out{rounds.count}, place(plan.ops.size(), 0), from_round(plan.ops.size(), 0) {
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Plan::PlannedOp& op = plan.ops[i];
    if (op.op.round == kNoRound) continue;
    const auto round = static_cast<std::size_t>(op.op.round);
    if (ops.size() <= round) {
      ops.resize(round + 1);
      instances.resize(round + 1, 0);
    }
    place[i] = static_cast<std::uint32_t>(ops[round].size());
    ops[round].emplace_back(i);
    widest = std::max(widest, ops[round].size());
    instances[round] += op.per_rank ? op.ranks : 1;
  }
  const auto like = static_cast<std::size_t>(rounds.like);
  if (like >= ops.size()) return;
  find_steady(plan, like);
  for (const OpId id : ops[like]) {
    const Plan::PlannedOp& op = plan.ops[id.index()];
    if (!op.op.is_traffic()) events += op.per_rank ? op.ranks : 1;
    for (const OpId after : op.successors[0])
      if (plan.ops[after.index()].op.round == kNoRound)
        from_round[after.index()] += op.per_rank && !plan.ops[after.index()].per_rank ? op.ranks : 1;
  }
}

/// True if the next round is this one, a round later.
bool PlannedRounds::is_steady(const Plan& plan, std::size_t round, std::vector<std::int64_t>& priority_steps) const {
  if (round + 1 >= ops.size() || ops[round].size() != ops[round + 1].size()) return false;
  std::vector<OpId> moved, after;
  for (std::size_t i = 0; i < ops[round].size(); ++i) {
    const Plan::PlannedOp &one = plan.ops[ops[round][i].index()], &next = plan.ops[ops[round + 1][i].index()];
    if (!are_alike(one.op, next.op) || !one.successors[1].empty() || !next.successors[1].empty()) return false;
    const std::int64_t step = std::int64_t{next.op.priority} - one.op.priority;
    if (one.op.channel.valid()) {  // a channel goes by priorities
      std::int64_t& known = priority_steps[one.op.channel.index()];
      if (known == kNoStep) known = step;
      if (known != step) return false;
    } else if (step != 0) {
      return false;
    }
    if (one.successors[0].size() != next.successors[0].size()) return false;
    moved.clear();
    for (const OpId each : one.successors[0]) {
      const std::int32_t there = plan.ops[each.index()].op.round;
      if (there == kNoRound) {
        moved.push_back(each);
        continue;
      }
      const auto later = static_cast<std::size_t>(there) + 1;
      if (later >= ops.size() || place[each.index()] >= ops[later].size()) return false;
      moved.push_back(ops[later][place[each.index()]]);
    }
    after.assign(next.successors[0].begin(), next.successors[0].end());
    std::ranges::sort(moved);
    std::ranges::sort(after);
    if (moved != after) return false;
  }
  return true;
}

void PlannedRounds::find_steady(const Plan& plan, std::size_t like) {
  if (plan.leaves_behind || !plan.counters.empty() || plan.phases.count() > 1) return;
  std::vector<std::int64_t> priority_steps(plan.channels.size(), kNoStep);
  first = last = like;
  while (is_steady(plan, last, priority_steps)) ++last;
  if (last == like) return;
  while (first > 0 && is_steady(plan, first - 1, priority_steps)) --first;
  ++last;
  // Passes that are ready at once go in the order of ids, which has to repeat a round later.
  const auto is_moved = [&](const Op& op) {
    return op.round != kNoRound && first <= static_cast<std::size_t>(op.round) &&
           static_cast<std::size_t>(op.round) + 1 < last;
  };
  OpId before;
  bool is_regular = true;
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i].op;
    if (is_moved(op)) {
      const OpId next = ops[static_cast<std::size_t>(op.round) + 1][place[i]];
      is_regular = is_regular && (!before.valid() || before < next);
      before = next;
    }
    if (op.round != kNoRound) continue;
    for (const auto& successors : plan.ops[i].successors)  // a round waits for nothing outside of rounds
      for (const OpId after : successors) is_regular = is_regular && !is_moved(plan.ops[after.index()].op);
  }
  if (!is_regular) first = last = like;
}

}  // namespace contend
