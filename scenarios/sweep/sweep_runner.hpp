#pragma once
// Runs a planned sweep on several threads, a simulation each, and records every run as it ends.

#include "scenarios/run/job_lists.hpp"
#include "scenarios/sweep/sweep_plan.hpp"
#include "scenarios/sweep/sweep_store.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace contend {

/// One run of a scenario as a row of a store but for its numbers, with its jobs. What is thrown becomes a failed run.
/// Each thread has its own: it keeps the model of the last iteration that it studied.
class SweepExecutor {
 public:
  /// `is_study`: the scenario studies one iteration of a single policy and number of workers.
  /// `lists`: where the job lists come from, for all threads of a sweep.
  SweepExecutor(bool is_study, JobLists& lists) : is_study_{is_study}, lists_{lists} {}
  struct Outcome {
    StoreRun run;
    std::vector<JobResult> jobs;
    bool interrupted = false;  ///< ended by `interrupted`: no result
  };
  /// The scenario is asked for within, so that a file of it that can't be read any more is a failed run, too.
  [[nodiscard]] Outcome operator()(const std::function<const Scenario&()>& scenario, std::uint64_t seed,
                                   const std::function<bool()>& interrupted);

 private:
  void run_jobs(const Scenario& scenario, const std::function<bool()>& interrupted, Outcome& outcome) const;
  void run_iteration(const Scenario& scenario, Outcome& outcome);

  bool is_study_;
  JobLists& lists_;
  IterationStudy study_;  ///< of the model
  TimedModel model_;
};

struct SweepHooks {
  unsigned threads = 1;
  std::function<void(const StoreRun&)> recorded;  ///< one call at a time
  std::function<bool()> interrupted;  ///< true ends the runs that are under way, unrecorded, and starts no more
};

/// Runs these runs of the plan and records them in the store under the manifest. Throws InputError if the store can't
/// be written.
void run_sweep(const SweepPlan& plan, std::span<const std::int64_t> runs, std::int64_t manifest, SweepStore& store,
               const SweepHooks& hooks);

}  // namespace contend
