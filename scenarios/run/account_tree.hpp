#pragma once
// The accounts of a scenario: its virtual clusters, with the users that have jobs in them.

#include "policies/account_tree.hpp"
#include "scenarios/spec/cluster_setup.hpp"
#include "sim/job.hpp"

namespace contend {

/// The accounts that `cluster.vcs` makes, first the ones that Workload::vcs names, and all users that have jobs or a
/// weight. Without `cluster.vcs` all users are below the root.
[[nodiscard]] AccountTree account_tree(const ClusterSetup& cluster, const Workload& workload);

}  // namespace contend
