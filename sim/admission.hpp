#pragma once
// The life of jobs around their iterations: arrival, queue, placement, preemption, end, another attempt.

#include "sim/courier.hpp"
#include "sim/engine_state.hpp"
#include "sim/executor.hpp"

#include <vector>

namespace contend {

class Admission : private SchedulingActions {
 public:
  Admission(EngineState& state, Executor& executor, Courier& courier)
      : state_{state}, executor_{executor}, courier_{courier} {}

  /// Schedules the first arrival.
  void begin();
  /// The next job of the list is submitted now.
  void on_arrival();
  /// A graph job has run its last iteration.
  void on_finished(JobId job);
  /// A timed job has run its time.
  void on_job_end(JobId job);
  /// The job waits again, some time after an attempt of it failed.
  void on_retry(JobId job);
  /// A pass is due, by a decision of the policy or by the quantum.
  void on_pass();
  /// One pass of the scheduling policy, if one is due and a job waits.
  void scheduling_pass();
  /// The earliest instant, known now, at which something other than the end of a running job may start a pass.
  [[nodiscard]] Time next_intervention() const;

 private:
  // SchedulingActions
  bool start(JobId job) override;
  [[nodiscard]] bool refused_alike() const override { return refused_alike_; }
  void preempt(JobId job, JobId by) override;
  void blocked(JobId job, Why why, JobId by) override;
  [[nodiscard]] bool recording() const override { return state_.options.decisions != nullptr; }

  void schedule_next_arrival();
  [[nodiscard]] Time next_arrival() const;
  void enqueue(JobId job);
  void order_ties();
  void schedule_pass(Time time);
  /// The first multiple of the quantum that is not before `time`.
  [[nodiscard]] Time at_quantum(Time time) const;
  void ask_for_next_decision();
  /// False if no placement could be legal now.
  [[nodiscard]] bool has_room(const JobSpec& job);
  void check_placement(JobId job) const;
  void start_timed(JobRun& run, JobId job);
  void hold(JobId job);
  /// Gives back what the job holds, once its execution is over.
  /// Tells the observer that a timed job leaves the GPUs that it has had for itself since it started: as a task named
  /// `run`, whose iteration is the attempt. GPUs that it shares are left out, because spans of one GPU don't overlap.
  void show(JobId job) const;
  void release(JobId job);
  void tell_left(JobId job);
  [[noreturn]] void illegal_step(JobId job, const char* what) const;

  EngineState& state_;
  Executor& executor_;
  Courier& courier_;
  std::vector<JobId> arrivals_;  // by (submit, id)
  std::size_t next_ = 0;
  std::vector<Time> retries_;  // a heap: the earliest is in front
  bool pass_is_due_ = false;
  bool in_pass_ = false;
  bool refused_alike_ = false;  // the last start()
  EventHandle pass_event_;
  Time pass_at_ = Time::never();  // of that event
  std::vector<GpuId> chosen_;
  std::vector<const JobSpec*> too_large_;  // found no room since the pass began and GPUs were freed last
  std::vector<JobId> ended_in_pass_;       // of which the policy hasn't been told
};

}  // namespace contend
