#include "scenarios/run/level_tree.hpp"

#include "models/workload.hpp"
#include "sim/error.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

using Tiers = std::vector<std::vector<std::uint32_t>>;

std::vector<std::uint32_t> domains_of(const NamedLevel& level, int servers) {
  std::vector<std::uint32_t> domain;
  std::uint32_t next = 0;
  while (std::ssize(domain) < servers) {
    const int size = level.servers ? *level.servers : level.sizes[next];
    domain.insert(domain.end(), static_cast<std::size_t>(std::min<std::int64_t>(size, servers - std::ssize(domain))),
                  next++);
  }
  return domain;
}

/// True if each domain of `lower` lies in one domain of `higher`.
bool is_within(const std::vector<std::uint32_t>& lower, const std::vector<std::uint32_t>& higher) {
  std::vector<std::uint32_t> above(lower.size(), UINT32_MAX);
  for (std::size_t s = 0; s < lower.size(); ++s) {
    std::uint32_t& known = above[lower[s]];
    if (known == UINT32_MAX) known = higher[s];
    if (known != higher[s]) return false;
  }
  return true;
}

LevelDemand demand_of(const LevelWish& wish, const std::vector<std::string>& names) {
  const auto index = [&](const std::string& name) {
    if (name.empty()) return -1;
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) return static_cast<int>(found - names.begin());
    const std::string nearest = did_you_mean(name, names);
    throw InputError{{.key = "cluster.levels",
                      .reason = fmt::format("jobs ask for the level `{}`, which is not there", name),
                      .hint = nearest.empty() ? fmt::format("the levels are {}", fmt::join(names, ", ")) : nearest}};
  };
  LevelDemand demand{index(wish.required), index(wish.preferred), wish.segment, index(wish.segment_level)};
  if (demand.required >= 0 && demand.preferred >= demand.required) demand.preferred = -1;  // it lies there anyway
  return demand;
}

}  // namespace

LevelTree level_tree(const ClusterSetup& cluster, const ServerGroups& groups, const std::vector<LevelWish>& wishes) {
  LevelTree levels;
  std::vector<std::string> names;
  Tiers tiers;
  std::size_t next = 0;
  for (const NamedLevel& level : cluster.levels) {
    const std::string key = fmt::format("cluster.levels[{}]", levels.all.size());
    if (level.servers || !level.sizes.empty()) {
      levels.all.push_back({level.name, domains_of(level, cluster.servers)});
    } else {
      if (tiers.empty() && groups) tiers = groups();
      if (next == tiers.size())
        throw InputError{
            {.key = key,
             .reason = fmt::format("`{}` has neither servers nor sizes, and the network has {}", level.name,
                                   tiers.empty() ? "no tiers of switches" : fmt::format("only {} tiers", tiers.size())),
             .hint = "give it servers: 8, or choose network.fidelity: flow and a fabric"}};
      levels.all.push_back({level.name, tiers[next++]});
    }
    if (levels.all.size() > 1 && !is_within(levels.all[levels.all.size() - 2].domain, levels.all.back().domain))
      throw InputError{
          {.key = key,
           .reason = fmt::format("a domain of `{}` lies in several domains of `{}`", names.back(), level.name),
           .hint = "levels stand from the lowest up"}};
    names.push_back(level.name);
  }
  for (const LevelWish& wish : wishes) levels.demands.push_back(demand_of(wish, names));
  return levels;
}

void add_level_wish(const LevelWish& wish, Workload& workload) {
  if (!wish.any()) return;
  for (JobSpec& job : workload.jobs)
    if (job.level < 0 && job.place < 0) job.level = level_index(workload, wish);
}

}  // namespace contend
