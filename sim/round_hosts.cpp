#include "sim/round_hosts.hpp"

namespace contend {

RoundHosts::RoundHosts(const Plan& plan)
    : roles(plan.roles.size()), launches(plan.ops.size()), is_task(plan.ops.size(), false) {
  const PlannedRounds& rounds = *plan.rounds;
  const auto on_host = [&](std::size_t i) {
    const Op& op = plan.ops[i].op;
    return op.kind == OpKind::task && op.lane == Lane::host;
  };
  for (Role& role : roles) role.tasks.resize(rounds.ops.size());
  for (std::size_t round = 0; round < rounds.ops.size(); ++round)
    for (const OpId id : rounds.ops[round])
      if (on_host(id.index())) roles[plan.ops[id.index()].op.role.index()].tasks[round].push_back(id);
  for (Role& role : roles) {
    if (rounds.first == rounds.last) continue;
    for (const OpId id : role.tasks[rounds.first]) role.each += plan.ops[id.index()].op.duration;
    role.is_free = true;
  }
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    for (const OpId after : plan.ops[i].successors[0]) {
      const Op& task = plan.ops[after.index()].op;
      if (!on_host(after.index()) || task.round == kNoRound || static_cast<std::size_t>(task.round) >= rounds.last)
        continue;
      if (!on_host(i) || plan.ops[i].op.role != task.role) roles[task.role.index()].is_free = false;
    }
  }
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    is_task[i] = on_host(i) && roles[plan.ops[i].op.role.index()].is_free;
    if (!is_task[i]) continue;
    for (const OpId after : plan.ops[i].successors[0])
      if (!on_host(after.index())) launches[after.index()].emplace_back(i);
  }
}

}  // namespace contend
