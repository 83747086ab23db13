#pragma once
// The keys of scheduling beside the policies: quantum, ties, costs of preemption, retries, virtual clusters, what
// servers have beside GPUs.

#include "scenarios/keys/keys.hpp"
#include "sim/cluster.hpp"
#include "sim/error.hpp"
#include "sim/scheduling_rules.hpp"

#include <string>
#include <vector>

namespace contend {

[[nodiscard]] std::vector<ScenarioKey> scheduling_keys();
/// Keys `cluster.*` that only matter to scheduling.
[[nodiscard]] std::vector<ScenarioKey> host_keys();
[[nodiscard]] ScenarioKey scatter_penalty_key();

/// What is wrong with `cluster.vcs`; empty if nothing is.
[[nodiscard]] std::vector<Complaint> vcs_complaints(const Scenario& scenario);

/// The cluster for the engine; `vcs` are the names that the workload gives. Throws InputError for one that
/// `cluster.vcs` doesn't name.
[[nodiscard]] ClusterSpec cluster_spec(const Scenario& scenario, const std::vector<std::string>& vcs);

[[nodiscard]] SchedulingRules scheduling_rules(const Scenario& scenario);

}  // namespace contend
