#pragma once
// The life of jobs around their iterations: arrival, queue, placement, preemption, end.

#include "sim/courier.hpp"
#include "sim/engine_state.hpp"
#include "sim/executor.hpp"

#include <vector>

namespace contend {

class Admission {
 public:
  Admission(EngineState& state, Executor& executor, Courier& courier)
      : state_{state}, executor_{executor}, courier_{courier} {}

  /// Schedules the first arrival.
  void begin();
  /// The next job of the list is submitted now.
  void on_arrival();
  /// The job has run its last iteration.
  void on_finished(JobId job);
  /// Tries to place the queued jobs in order of the scheduling policy. Does nothing if neither a job arrived nor memory
  /// was freed since the last pass.
  void scheduling_pass();
  /// When the next job arrives; Time::never() if none is left.
  [[nodiscard]] Time next_arrival() const;

 private:
  void schedule_next_arrival();
  void enqueue(JobId job);
  /// False if no placement could be legal now.
  [[nodiscard]] bool has_room(const JobSpec& job);
  bool try_to_start(JobId job);
  bool make_room(JobId job);
  void preempt(JobId job);
  void check_placement(JobId job) const;

  EngineState& state_;
  Executor& executor_;
  Courier& courier_;
  std::vector<JobId> arrivals_;  // by (submit, id)
  std::size_t next_ = 0;
  std::vector<GpuId> chosen_;
  std::vector<const JobSpec*> too_large_;      // did not fit in this pass
  std::vector<JobId> pushed_at_this_instant_;  // jobs that preempted others
};

}  // namespace contend
