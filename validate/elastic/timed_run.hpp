#pragma once
// Runs a trace of jobs with durations under a scheduling policy by its name, as released simulators do: GPUs are taken
// by number, and nothing goes over the network.

#include "policies/registry.hpp"
#include "sim/cluster.hpp"
#include "sim/job.hpp"
#include "sim/result.hpp"
#include "sim/sharing.hpp"

#include <string>
#include <utility>
#include <vector>

namespace contend {

using PolicyValues = std::vector<std::pair<std::string, ParameterValue>>;

/// `parameters`: those that differ from the defaults. Each restart takes so many seconds. `sharing`: by which jobs that
/// the policy puts on the same GPUs slow each other down. `foresees_batches` as in
/// SchedulingRules.
[[nodiscard]] RunResult run_timed(const ClusterSpec& cluster, Workload workload, const std::string& policy,
                                  const PolicyValues& parameters, double restart_s, GpuSharing sharing = {},
                                  bool foresees_batches = true);

}  // namespace contend
