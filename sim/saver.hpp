#pragma once
// The saver has jobs of iterations stop for their checkpoints. A job stops when an iteration ends after which a
// checkpoint is due, and its next iteration begins when
//   - its last checkpoint has been written, if that still goes on beside the work,
//   - it has stood still for the cost of a checkpoint (PreemptionCosts::checkpoint),
//   - and, unless PreemptionCosts::writes_beside, its bytes are in the store (sim/checkpoint_store.hpp).
// There is no checkpoint after the last iteration.

#include "sim/checkpoint_store.hpp"
#include "sim/engine_state.hpp"
#include "sim/executor.hpp"

#include <optional>
#include <vector>

namespace contend {

class Saver {
 public:
  Saver(EngineState& state, Executor& executor);

  /// The job has ended an iteration, and a checkpoint is due.
  void begin(JobId job);
  /// The job has stood still for the cost of its checkpoint.
  void on_copied(JobId job);
  /// A write to the store ends.
  void on_written();
  /// Ends the checkpoint of a job that leaves its GPUs, and counts the time for which it has stood still.
  void abandon(JobId job);

 private:
  void copy(JobId job);
  void go_on(JobId job);
  void schedule();

  EngineState& state_;
  Executor& executor_;
  std::optional<CheckpointStore> store_;
  EventHandle event_;  // of the next write to end
  std::vector<JobId> written_;
};

}  // namespace contend
