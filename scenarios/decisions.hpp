#pragma once
// Listening to the decisions of a scheduling policy. The listener stands between engine and policy and sees what passes
// through the port: which jobs queue, start, give way and leave, and what the policy notes about those that wait. The
// run is the same with and without it.

#include "sim/scheduling.hpp"

#include <memory>
#include <span>

namespace contend {

class DecisionObserver {
 public:
  virtual ~DecisionObserver() = default;
  /// The job waits from now on.
  virtual void queued(Time now, JobId job) = 0;
  virtual void started(Time now, JobId job, std::span<const GpuId> gpus) = 0;
  virtual void preempted(Time now, JobId job, JobId by) = 0;
  /// The job left its GPUs; it is done, or an attempt failed and it will be back.
  virtual void ended(Time now, JobId job, bool is_done) = 0;
  /// A pass considered the job and left it waiting. Only the last word at an instant counts.
  virtual void blocked(Time now, JobId job, Why why, JobId by) = 0;
};

/// `policy`, with all that it is told and does told to `observer`, which must outlive it.
[[nodiscard]] std::unique_ptr<SchedulingPolicy> observed(std::unique_ptr<SchedulingPolicy> policy,
                                                         DecisionObserver& observer);

}  // namespace contend
