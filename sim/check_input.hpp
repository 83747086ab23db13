#pragma once
// Checks what a simulation is given, before it begins. Each function throws InputError with the reason.

#include "sim/interference.hpp"
#include "sim/job.hpp"
#include "sim/ports.hpp"
#include "sim/simulation.hpp"

#include <span>

namespace contend {

/// The same cluster, whose servers, virtual clusters and types fit each other.
[[nodiscard]] const ClusterSpec& checked(const ClusterSpec& spec);
/// Jobs alone, beside each other, and on such a cluster.
void check_workload(const Workload& workload, const ClusterSpec& spec, const SchedulingRules& rules);
/// Counters that are shared: to each for which a graph waits another graph, or this one, posts. The graphs are valid.
void check_counters(std::span<const IterationGraph> graphs);
void check_rules(const SchedulingRules& rules);
void check_sharing(const GpuSharing& sharing);
void check_interference(const Interference& interference, const NetworkModel& network);
/// The costs of preemptions and checkpoints of one job.
void check_costs(const PreemptionCosts& costs, const JobSpec& job, const SchedulingRules& rules);

}  // namespace contend
