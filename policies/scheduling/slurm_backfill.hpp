#pragma once
// What Slurm's backfilling does in a pass, step by step (slurm_backfill.cpp has the policy).

#include "policies/policy_row.hpp"
#include "policies/scheduling/node_space.hpp"
#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace contend {

/// The parameters of SchedulerParameters in slurm.conf that the policy has, with the names of slurm.conf.
struct SlurmOptions {
  explicit SlurmOptions(const Parameters& parameters);

  Time interval, window, resolution;  ///< of backfill passes; how far it plans; times are its multiples
  Time test, max_time;                ///< that a test takes; after which a pass ends
  std::int64_t max_job_test, max_job_part, max_job_user, max_job_user_part, max_job_start, records;  ///< 0: any number
  bool continues;                    ///< a pass goes on though something has changed since its begin
  Time sched_interval, batch_delay;  ///< of main passes over all jobs; between main passes because of submissions
  std::int64_t depth;                ///< jobs of other main passes
  bool defers;                       ///< no main pass because of submissions
  Time end_window;                   ///< running jobs that end within it are taken to end together
};

/// Start and GPUs that a pass of backfilling found for a job that waits.
struct SlurmPlan {
  Time start;
  std::vector<GpuId> gpus;
  bool is_kept = false;  ///< no other job may have its servers then
};

/// A backfill pass that isn't over.
struct SlurmPass {
  Time began, resumes;       ///< at which it goes on
  NodeSpace space;           ///< what the plans so far hold
  std::vector<JobId> queue;  ///< in order
  std::size_t next = 0;      ///< of the queue
  std::int64_t tests = 0, starts = 0;
  std::size_t changes = 0;                                    ///< of jobs and servers, when it paused
  std::map<std::int32_t, std::int64_t> of_part{}, of_user{};  ///< jobs that were considered
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> of_user_part{};
};

}  // namespace contend
