#include "scenarios/run/account_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace contend {

AccountTree account_tree(const ClusterSetup& cluster, const Workload& workload) {
  AccountTree tree;
  std::vector<std::string> names = cluster.vcs.empty() ? std::vector<std::string>{} : workload.vcs;
  for (const NamedVirtualCluster& vc : cluster.vcs)
    if (std::ranges::find(names, vc.name) == names.end()) names.push_back(vc.name);
  const auto index = [](std::span<const std::string> all, const std::string& name) {
    const auto at = std::ranges::find(all, name);
    return at == all.end() ? -1 : static_cast<std::int32_t>(at - all.begin());
  };
  std::map<std::pair<std::int32_t, std::int32_t>, double> weights;  // by account and user
  for (const std::string& name : names) {
    const NamedVirtualCluster& vc = *std::ranges::find(cluster.vcs, name, &NamedVirtualCluster::name);
    const auto account = static_cast<std::int32_t>(tree.accounts.size());
    tree.accounts.push_back({.parent = index(names, vc.parent),
                             .weight = vc.weight,
                             .priority = vc.priority,
                             .job_factor = vc.job_factor,
                             .name = vc.name,
                             .gpus = vc.gpus,
                             .has_servers = vc.servers.has_value(),
                             .borrows = vc.may_borrow(),
                             .rules = vc.rules});
    std::int32_t unknown = static_cast<std::int32_t>(workload.users.size());  // no job is theirs
    for (const WeightedUser& user : vc.users) {
      const std::int32_t known = index(workload.users, user.name);
      weights[{account, known >= 0 ? known : unknown++}] = user.weight;
    }
  }
  for (const JobSpec& job : workload.jobs) {
    weights.try_emplace({tree.accounts.empty() ? -1 : job.vc, job.user}, 1);
    tree.largest_priority = std::max(tree.largest_priority, job.priority);
  }
  for (const auto& [key, weight] : weights) tree.users.push_back({key.first, key.second, weight});
  return tree;
}

}  // namespace contend
