#pragma once
// How fast elastic jobs are with other numbers of GPUs than they prefer: by the tables that time them, or by the
// iteration graphs of their training entries on so many workers.

#include "models/workload.hpp"
#include "scenarios/spec/training_system.hpp"
#include "scenarios/spec/workload_setup.hpp"
#include "sim/job.hpp"
#include "traces/throughputs.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The reason why nothing says how fast the job is with other numbers of GPUs; an empty text if something does, or if
/// it always has the same number.
[[nodiscard]] std::string why_not_elastic(const std::vector<TrainingEntry>& training,
                                          const std::optional<ThroughputTable>& table, const JobRequest& job);

/// Gives the elastic jobs of a workload, which was made of these requests, the sizes on which they can run. A job that
/// a table times has the numbers of GPUs of its rows between its bounds. A job of iterations has its bounds, its
/// preferred size, and the powers of two between; each worker trains the same batch on any number, so that an iteration
/// of more workers does more of the work. Policies reckon with the time of its iteration alone in the network. The
/// table is throughputs_of(system.cluster, setup).
void add_sizes(const TrainingSystem& system, const WorkloadSetup& setup, const std::optional<ThroughputTable>& table,
               const std::vector<JobRequest>& requests, Workload& workload);

}  // namespace contend
