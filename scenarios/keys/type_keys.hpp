#pragma once
// The keys about types of servers: `cluster.types`, and how fast jobs are on them.

#include "scenarios/keys/keys.hpp"
#include "sim/error.hpp"

#include <vector>

namespace contend {

[[nodiscard]] ScenarioKey types_key();
/// `workload.throughputs` and what belongs to it.
[[nodiscard]] std::vector<ScenarioKey> throughput_keys();
/// The faults of `cluster.types` and of the keys that name a type; empty if there are none.
[[nodiscard]] std::vector<Complaint> types_complaints(const Scenario& scenario);
/// Sets the servers of the cluster, and the most GPUs and memory that one has, by the types; there is at least one.
void take_types(Scenario& scenario);

}  // namespace contend
