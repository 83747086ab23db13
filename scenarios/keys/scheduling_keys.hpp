#pragma once
// The keys of scheduling besides the policies: quantum, ties, preemption costs, retries, virtual clusters, and the CPUs
// and memory of servers.

#include "scenarios/keys/keys.hpp"
#include "sim/cluster.hpp"
#include "sim/error.hpp"
#include "sim/scheduling_rules.hpp"

#include <vector>

namespace contend {

[[nodiscard]] std::vector<ScenarioKey> scheduling_keys();
/// The keys `cluster.*` that only matter to scheduling.
[[nodiscard]] std::vector<ScenarioKey> host_keys();
[[nodiscard]] ScenarioKey scatter_penalty_key();

/// The faults of `cluster.vcs`; empty if there are none.
[[nodiscard]] std::vector<Complaint> vcs_complaints(const ClusterSetup& cluster);

/// The cluster for the engine. Throws InputError if `cluster.vcs` lacks a virtual cluster that the workload names.
[[nodiscard]] ClusterSpec cluster_spec(const ClusterSetup& cluster, const WorkloadSetup& setup,
                                       const Workload& workload);

[[nodiscard]] SchedulingRules scheduling_rules(SchedulingRules rules, const WorkloadSetup& workload);

}  // namespace contend
