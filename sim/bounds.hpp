#pragma once
// Lower bounds on the average JCT and the makespan of a list of jobs on a cluster, that no scheduling or placement
// policy beats: docs/models/bounds.md derives them.

#include "sim/cluster.hpp"
#include "sim/job.hpp"
#include "sim/result.hpp"
#include "sim/scheduling_rules.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>

namespace contend {

/// The least that a job needs, whatever a policy decides.
struct LeastWork {
  Time submit;
  Time time;     ///< on GPUs
  GpuTime work;  ///< of all its GPUs together; 0: not known
};

/// Bounds of the jobs on so many GPUs, from the first submission on; NaN without jobs. The makespan is at least the
/// time of each job after its submission, and the work of all that are submitted at r or later over the GPUs, after r
/// (area). The sum of completion times is at least each of
///   - the sum of the least times,
///   - the sum of completion times by shortest remaining work on one machine as fast as all GPUs (Schrage, Operations
///     Research 16, 1968), and
///   - the sum of mean busy times by least work on that machine, and half the least times (Eastman, Even, Isaacs,
///     Management Science 11, 1964; with submissions Goemans, SODA 1997).
/// `relaxed` = false leaves out the last two, which need submissions that no policy decides on.
[[nodiscard]] LowerBounds lower_bounds(std::span<const LeastWork> jobs, std::int64_t gpus, Time first_submit,
                                       bool relaxed = true);

/// What decides on the work of jobs beside the workload.
struct BoundRules {
  bool kills_at_limit = false;   ///< SchedulingRules::kill_at_limit
  bool limits_attempts = false;  ///< RetryRule::times of failed attempts is given
  bool counts_gpu_time = true;   ///< false: jobs help each other on shared GPUs, or go on without some of theirs
};
/// Sets RunResult::bounds, over the finished jobs that are measured. `result` has a row for each job of the workload.
void add_lower_bounds(const ClusterSpec& cluster, const Workload& workload, const BoundRules& rules, RunResult& result);

}  // namespace contend
