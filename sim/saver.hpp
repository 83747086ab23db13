#pragma once
// The saver has jobs stop for their checkpoints: jobs of iterations, and timed jobs that write to a store. A job of
// iterations stops when one ends after which a checkpoint is due, a timed job when it has done the work between two
// checkpoints. It goes on when
//   - its last checkpoint has been written, if that still goes on beside the work,
//   - it has stood still for the cost of a checkpoint (PreemptionCosts::checkpoint),
//   - and, unless PreemptionCosts::writes_beside, its bytes are in the store (sim/checkpoint_store.hpp).
// There is no checkpoint after the last iteration, or at the end of the work of a timed job. Timed jobs that don't
// write to a store need no events for their checkpoints: work_after() says what they have done.

#include "sim/checkpoint_store.hpp"
#include "sim/engine_state.hpp"
#include "sim/executor.hpp"

#include <optional>
#include <vector>

namespace contend {

class Saver {
 public:
  Saver(EngineState& state, Executor& executor);

  /// A timed job that writes to the store starts.
  void start_timed(JobId job);
  /// The job has ended an iteration, or done its work, after which a checkpoint is due.
  void begin(JobId job);
  /// The job has stood still for the cost of its checkpoint.
  void on_copied(JobId job);
  /// A write to the store ends.
  void on_written();
  /// Ends the checkpoint of a job that leaves its GPUs, and counts the time for which it has stood still.
  void abandon(JobId job);

 private:
  struct Stand {
    SavingStep& step;
    Time& since;
  };
  [[nodiscard]] static Stand stand_of(JobRun& run) {
    if (run.saving) return {run.saving->step, run.saving->standing_since};
    return {run.live->step, run.live->standing_since};
  }
  void copy(JobId job);
  /// Iterations are saved if the copy is over and the workers of the job are starting again (PreemptionCosts::renews).
  void count_saved_before_start(JobRun& run);
  void go_on(JobId job);
  void go_on_timed(JobId job, bool is_written_later);
  void work_on(JobId job);
  void schedule();

  EngineState& state_;
  Executor& executor_;
  std::optional<CheckpointStore> store_;
  EventHandle event_;  // of the next write to end
  std::vector<JobId> written_;
};

}  // namespace contend
