#include "sim/server_folding.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace contend {
namespace {

constexpr int kShared = -1;  // a server that is simulated by itself

void sort_unique(std::vector<ServerId>& servers) {
  std::sort(servers.begin(), servers.end());
  servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
}

bool contains(const std::vector<ServerId>& servers, ServerId server) {
  return std::binary_search(servers.begin(), servers.end(), server);
}

void insert(std::vector<ServerId>& servers, ServerId server) {
  servers.insert(std::lower_bound(servers.begin(), servers.end(), server), server);
}

/// The servers between which messages pass from ranks to those with the same number of another role.
std::vector<ServerId> servers_of_messages(const EngineState& state, std::span<const GpuId> from,
                                          std::span<const GpuId> to) {
  std::vector<ServerId> servers;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const ServerId sender = state.server_of(from[i]), receiver = state.server_of(to[i]);
    if (sender != receiver) servers.insert(servers.end(), {sender, receiver});
  }
  sort_unique(servers);
  return servers;
}

/// The servers of the listed groups that have ranks on several.
std::vector<ServerId> servers_of_lists(const EngineState& state, std::span<const GpuId> ranks, const RankLists& lists) {
  std::vector<ServerId> all, its;
  for (const std::vector<int>& group : lists.groups()) {
    its.clear();
    for (const int rank : group) its.push_back(state.server_of(ranks[static_cast<std::size_t>(rank)]));
    sort_unique(its);
    if (its.size() > 1) all.insert(all.end(), its.begin(), its.end());
  }
  sort_unique(all);
  return all;
}

/// The servers that an operation of several ranks touches.
std::vector<ServerId> servers_touched(const EngineState& state, const JobRun& run, const Plan::PlannedOp& planned) {
  const Plan& plan = *run.plan;
  const Op& op = planned.op;
  const auto ranks_of = [&](RoleId role) {
    return std::span{run.gpus}.subspan(static_cast<std::size_t>(plan.first_rank[role.index()]),
                                       static_cast<std::size_t>(planned.ranks));
  };
  if (op.kind == OpKind::message) return servers_of_messages(state, ranks_of(op.role), ranks_of(op.peer));
  if (op.scope == CollectiveScope::server) return {};
  if (op.scope == CollectiveScope::groups) {
    if (op.groups.lists) return servers_of_lists(state, ranks_of(op.role), *op.groups.lists);
    if (!leave_servers(state, ranks_of(op.role), op.groups)) return {};
  }
  std::vector<ServerId> servers;
  if (planned.ranks == plan.ranks) {
    servers = run.live->servers;
  } else {
    for (const GpuId gpu : ranks_of(op.role)) servers.push_back(state.server_of(gpu));
    sort_unique(servers);
  }
  if (servers.size() < 2 && op.servers != ParameterServers::elsewhere) servers.clear();
  return servers;
}

/// Takes a server out of those that are simulated as one.
void take_apart(EngineState& state, ServerId server) {
  const JobId owner = std::exchange(state.folded_for[server.index()], JobId::none());
  JobExecution& live = *state.run(owner).live;
  const auto same = std::ranges::find_if(live.same_servers,
                                         [&](const std::vector<ServerId>& each) { return contains(each, server); });
  ServerId by_itself = server;  // that which gets an interface of its own
  if (server == same->front()) {
    by_itself = (*same)[1];
    state.network->unfold(std::span{*same}.subspan(1));
  } else {
    state.network->unfold({&server, 1});
  }
  std::erase(*same, server);
  if (same->size() == 1) {
    state.folded_for[same->front().index()] = JobId::none();
    live.same_servers.erase(same);
  }
  for (auto& [ranks, joined] : live.joined)
    if (contains(joined.all, by_itself)) insert(joined.folded, by_itself);
  ++state.folding[owner.index()].simulated_servers;
  ++state.folding[owner.index()].unfolded.shared_servers;
}

/// For each server of the job the number of the set of equal ones in which it is, or kShared.
std::vector<int> sets_of(const EngineState& state, const JobExecution& live) {
  std::vector<int> set(live.servers.size(), 0);
  for (std::size_t i = 0; i < set.size(); ++i)
    if (state.sending_jobs[live.servers[i].index()] > 1) set[i] = kShared;
  // What touches some servers of a set parts them from the others.
  int sets = 1;
  std::vector<int> part;  // by set: the new number of those that are touched
  const std::vector<ServerId>* before = nullptr;
  for (const auto& [ranks, joined] : live.joined) {
    if (before != nullptr && *before == joined.all) continue;
    before = &joined.all;
    part.assign(static_cast<std::size_t>(sets), kShared);
    std::size_t at = 0;
    for (const ServerId server : joined.all) {
      while (live.servers[at] < server) ++at;
      if (set[at] == kShared) continue;
      int& touched = part[static_cast<std::size_t>(set[at])];
      if (touched == kShared) touched = sets++;
      set[at] = touched;
    }
  }
  return set;
}

/// True if anything of the job may pass through the interface of a server.
bool sends_between_servers(const JobRun& run) {
  return run.live->servers.size() > 1 || run.plan->leaves_server;
}

}  // namespace

bool leave_servers(const EngineState& state, std::span<const GpuId> ranks, const RankGroups& groups) {
  std::vector<ServerId> server(static_cast<std::size_t>(groups.count(static_cast<int>(ranks.size()))));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const int group = groups.of(static_cast<int>(rank));
    if (group < 0) continue;
    const ServerId here = state.server_of(ranks[rank]);
    ServerId& of_group = server[static_cast<std::size_t>(group)];
    if (of_group.valid() && of_group != here) return true;
    of_group = here;
  }
  return false;
}

void join_servers(EngineState& state, JobId job) {
  JobRun& run = state.run(job);
  const Plan& plan = *run.plan;
  run.live->joined_by.assign(plan.ops.size(), nullptr);
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i].op;
    if (plan.ops[i].per_rank || !op.is_traffic()) continue;
    JoinedRanks ranks{op.role, RoleId::none(), op.roles};
    if (op.kind == OpKind::message) {
      ranks.peer = op.peer;
    } else if (op.scope == CollectiveScope::groups) {
      ranks.stride = op.groups.stride;
      ranks.size = op.groups.size;
      ranks.lists = plan.ops[i].lists;
    } else if (op.scope == CollectiveScope::server) {
      ranks.size = 1;  // whatever lies inside servers touches none
    }
    const auto [known, is_new] = run.live->joined.try_emplace(ranks);
    run.live->joined_by[i] = &known->second;
    if (!is_new) continue;
    known->second.all = known->second.folded = servers_touched(state, run, plan.ops[i]);
    known->second.number = ++state.joined_made;
  }
}

void fold_servers(EngineState& state, JobId job) {
  JobExecution& live = *state.run(job).live;
  FoldingCounts& counts = state.folding[job.index()];
  counts.servers = counts.simulated_servers = static_cast<int>(live.servers.size());
  if (!sends_between_servers(state.run(job))) return;
  counts.unfolded.network_with_routes = !state.network->folds_servers();
  if (!state.fold || !state.network->folds_servers()) return;
  state.sending_jobs.resize(state.servers(), 0);
  state.folded_for.resize(state.servers(), JobId::none());
  for (const ServerId server : live.servers) {
    if (state.folded_for[server.index()].valid()) take_apart(state, server);
    ++state.sending_jobs[server.index()];
  }
  if (!state.run(job).plan->foldable) return;
  const std::vector<int> set = sets_of(state, live);
  counts.unfolded.shared_servers = static_cast<int>(std::ranges::count(set, kShared));
  std::vector<std::vector<ServerId>> same(static_cast<std::size_t>(*std::max_element(set.begin(), set.end()) + 1));
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set[i] != kShared) same[static_cast<std::size_t>(set[i])].push_back(live.servers[i]);
  std::vector<bool> is_hidden(live.servers.size(), false);
  bool hides = false;
  for (std::vector<ServerId>& servers : same) {
    if (servers.size() < 2) continue;
    state.network->fold(servers);
    hides = true;
    for (const ServerId server : servers) state.folded_for[server.index()] = job;
    for (std::size_t i = 1; i < servers.size(); ++i)
      is_hidden[static_cast<std::size_t>(std::ranges::lower_bound(live.servers, servers[i]) - live.servers.begin())] =
          true;
    live.same_servers.push_back(std::move(servers));
  }
  if (!hides) return;
  counts.simulated_servers -= static_cast<int>(std::ranges::count(is_hidden, true));
  for (auto& [ranks, joined] : live.joined) {
    std::size_t at = 0;
    std::erase_if(joined.folded, [&](ServerId server) {
      while (live.servers[at] < server) ++at;
      return is_hidden[at];
    });
  }
}

void unfold_servers(EngineState& state, JobId job) {
  JobExecution& live = *state.run(job).live;
  if (!state.fold || !state.network->folds_servers() || !sends_between_servers(state.run(job))) return;
  for (const ServerId server : live.servers) --state.sending_jobs[server.index()];
  for (const std::vector<ServerId>& servers : live.same_servers) {
    for (const ServerId server : servers) state.folded_for[server.index()] = JobId::none();
    for (std::size_t i = 1; i < servers.size(); ++i) state.network->unfold(std::span{servers}.subspan(i, 1));
  }
  live.same_servers.clear();
}

}  // namespace contend
