#pragma once
// The keys about types of servers: `cluster.types`, and how fast jobs are on them.

#include "scenarios/keys/keys.hpp"
#include "sim/cluster.hpp"
#include "sim/error.hpp"
#include "sim/job.hpp"

#include <string>
#include <vector>

namespace contend {

[[nodiscard]] ScenarioKey types_key();
/// `workload.throughputs` and what belongs to it.
[[nodiscard]] std::vector<ScenarioKey> throughput_keys();
/// The faults of `cluster.types` and of the keys that name a type; empty if there are none.
[[nodiscard]] std::vector<Complaint> types_complaints(const ClusterSetup& cluster, const PolicyChoice& scheduling,
                                                      const WorkloadSetup& workload);
/// Sets the servers of the cluster, and the most GPUs and memory that one has, by the types; there is at least one.
void take_types(Scenario& scenario);

/// Why the scheduling policy can't have the job mix types, which it may by its demand; empty if there is no such fault.
[[nodiscard]] std::string why_not_mixed(const PolicyChoice& scheduling, const ClusterSpec& cluster, const JobSpec& job);

}  // namespace contend
