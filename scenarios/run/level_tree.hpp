#pragma once
// The levels above the servers of a scenario.

#include "scenarios/spec/cluster_setup.hpp"
#include "sim/job.hpp"
#include "sim/levels.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace contend {

/// PolicyContext::server_groups.
using ServerGroups = std::function<std::vector<std::vector<std::uint32_t>>()>;

/// The tree of `cluster.levels`, and these wishes by its levels. Throws InputError if there is no such level, or if the
/// network has no tier for one that is given without servers.
[[nodiscard]] LevelTree level_tree(const ClusterSetup& cluster, const ServerGroups& groups,
                                   const std::vector<LevelWish>& wishes);
/// Gives the wish to the jobs that have none and no place of their own.
void add_level_wish(const LevelWish& wish, Workload& workload);

}  // namespace contend
