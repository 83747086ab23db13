#pragma once
// Runs a planned sweep on several threads, one simulation on each, and records every run as it ends.

#include "scenarios/run/job_lists.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/sweep/sweep_plan.hpp"
#include "scenarios/sweep/sweep_store.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace contend {

/// Runs a scenario once, of an iteration study one with a single variant, and returns the row of the store, without its
/// numbers, and the jobs; an exception becomes a failed run. Each thread has its own executor, which caches the model
/// of the last iteration study.
class SweepExecutor {
 public:
  /// `lists`: where the job lists come from, for all threads of a sweep. `timeout`: of each run of jobs in wall-clock
  /// time; one that takes longer is stopped and becomes a failed run.
  explicit SweepExecutor(JobLists& lists, std::optional<Time> timeout = std::nullopt)
      : lists_{lists}, timeout_{timeout} {}
  struct Outcome {
    StoreRun run;
    std::vector<JobResult> jobs;
    bool interrupted = false;  ///< ended by `interrupted`, without a result
  };
  /// `scenario` is called inside, so that an input file that can no longer be read also becomes a failed run.
  [[nodiscard]] Outcome operator()(const std::function<const Scenario&()>& scenario, std::uint64_t seed,
                                   const std::function<bool()>& interrupted);

 private:
  void run(const Scenario& scenario, const std::function<bool()>& interrupted, Outcome& outcome);
  [[nodiscard]] const TimedModel& model_of(const IterationStudy& study);

  JobLists& lists_;
  std::optional<Time> timeout_;
  std::optional<TrainingEntry> timed_;  ///< the entry of the model
  TimedModel model_;
};

/// How a sweep runs, and whom it notifies.
struct SweepHooks {
  unsigned threads = 1;
  std::function<void(const StoreRun&)> recorded;  ///< called after each run, one call at a time
  std::function<bool()> interrupted;  ///< true ends the current runs without recording them and starts no more
  /// Wall-clock time of a run of jobs, > 0; a run that takes longer is recorded as failed. Which runs do depends on the
  /// machine.
  std::optional<Time> timeout = std::nullopt;
};

/// Runs the given runs of the plan and records them in the store under the manifest. Throws InputError if the store
/// cannot be written.
void run_sweep(const SweepPlan& plan, std::span<const std::int64_t> runs, std::int64_t manifest, SweepStore& store,
               const SweepHooks& hooks);

}  // namespace contend
