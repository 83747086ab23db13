#include "network/collectives/scope_groups.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace contend {

std::vector<std::vector<NodeId>> scope_groups(CollectiveScope scope, const RankGroups& by_rank,
                                              std::span<const NodeId> gpus, const Topology& topology) {
  std::vector<std::vector<NodeId>> groups;
  if (scope == CollectiveScope::groups && by_rank.lists) {
    for (const std::vector<int>& ranks : by_rank.lists->groups()) {
      if (ranks.size() < 2) continue;
      groups.emplace_back();
      for (const int rank : ranks) groups.back().push_back(gpus[static_cast<std::size_t>(rank)]);
    }
    return groups;
  }
  std::map<decltype(Node::server), std::size_t> seen;  // ranks by server so far
  const auto put = [&](std::size_t group, NodeId gpu) {
    if (groups.size() <= group) groups.resize(group + 1);
    groups[group].push_back(gpu);
  };
  std::map<decltype(Node::server), std::size_t> group_of;
  for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
    const NodeId gpu = gpus[rank];
    const auto server = topology.nodes()[gpu.index()].server;
    const std::size_t before = seen[server]++;
    switch (scope) {
      case CollectiveScope::all:
        put(0, gpu);
        break;
      case CollectiveScope::server:
        put(group_of.try_emplace(server, group_of.size()).first->second, gpu);
        break;
      case CollectiveScope::leaders:
        if (before == 0) put(0, gpu);
        break;
      case CollectiveScope::peers:
        put(before, gpu);
        break;
      case CollectiveScope::groups:
        put(static_cast<std::size_t>(by_rank.of(static_cast<int>(rank))), gpu);
        break;
    }
  }
  std::erase_if(groups, [](const std::vector<NodeId>& group) { return group.size() < 2; });
  return groups;
}

std::vector<CoupledFlow> run_at_once(std::vector<std::vector<CoupledFlow>> groups) {
  if (groups.size() == 1) return std::move(groups.front());
  std::vector<CoupledFlow> joined;
  for (const std::vector<CoupledFlow>& group : groups) joined.resize(std::max(joined.size(), group.size()));
  for (std::size_t i = 0; i < joined.size(); ++i) {
    CoupledFlow& flow = joined[i];
    for (const std::vector<CoupledFlow>& group : groups) {
      if (i >= group.size()) continue;
      flow.bytes = std::max(flow.bytes, group[i].bytes);
      flow.fixed = std::max(flow.fixed, group[i].fixed);
    }
    for (const std::vector<CoupledFlow>& group : groups) {
      if (i >= group.size() || group[i].cap == 0 || group[i].bytes <= 0) continue;
      const double cap = group[i].cap * (flow.bytes / group[i].bytes);  // with which it takes as long
      flow.cap = flow.cap == 0 ? cap : std::min(flow.cap, cap);
    }
    std::map<LinkId, double> shares;
    for (const std::vector<CoupledFlow>& group : groups) {
      if (i >= group.size() || flow.bytes <= 0) continue;
      for (const LinkShare& use : group[i].links) shares[use.link] += use.share * (group[i].bytes / flow.bytes);
    }
    for (const auto& [link, share] : shares) flow.links.push_back({link, share});
  }
  return joined;
}

}  // namespace contend
