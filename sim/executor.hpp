#pragma once
// The executor runs iteration graphs: it gives tasks to cells and messages to the courier.
//
// An operation becomes ready when all its predecessors have ended. Several iterations of a job may be in flight: an
// operation of a later one becomes ready as soon as its own dependencies (lag 0 and 1) allow it.

#include "sim/courier.hpp"
#include "sim/engine_state.hpp"

#include <functional>
#include <vector>

namespace contend {

class Executor {
 public:
  /// Calls `on_finished` when the last iteration of a job has ended, and `on_checkpoint` when one has ended after which
  /// the job stops for a checkpoint.
  Executor(EngineState& state, Courier& courier, std::function<void(JobId)> on_finished,
           std::function<void(JobId)> on_checkpoint);

  /// Opens the first iterations of a job that has just been seated.
  void begin(JobId job);
  /// Opens the next iterations of a job that has none in flight, now or when the network lets it begin them.
  void go_on(JobId job);
  /// The network lets the job begin its next iteration.
  void on_shifted(JobId job);

  /// Ends the task that the cell runs.
  void on_task_end(CellId cell);
  /// Ends the task that the ranks of a job on the cell run on a lane, given as its index in Plan::lanes.
  void on_lane_end(CellId cell, JobId job, std::size_t lane);
  /// Ends an await of the job whose counter has reached its value at this instant.
  void on_counted(JobId job);
  void on_timer_end(JobId job);
  /// Ends the timers that servers have done now (HostModel).
  void on_hosts_due();
  /// Starts the timers of this instant that servers carry. To be called when all that ends at it has ended, as what
  /// begins has no part in what is due.
  void start_on_hosts();
  /// Ends the transfers that are due now.
  void end_transfers();
  /// Begins what waits for all ranks but the late ones, and drops what these have left to do for it (Role::late). To be
  /// called when everything that ends at this instant has ended, so that ranks that finish together are alike.
  void leave_behind();
  /// Starts on every touched idle cell the ready task of the job with the smallest key, and on every idle lane of these
  /// cells its next task.
  void dispatch();

 private:
  struct Completion {
    JobId job;
    OpId op;
    Slot slot;
    CellId cell;  // of the rank; none for a collective
  };

  /// A collective or timer that begins at this instant, without late ranks or on hosts.
  struct Begun {
    JobId job;
    OpId op;
    Slot slot;
  };

  /// An iteration whose patience with late ranks has ended.
  struct Expired {
    JobId job;
    Slot slot;
    std::int64_t iteration;
  };

  /// Opens an iteration; `first` if it waits for none before it.
  void open(JobId job, Slot slot, bool first);
  void announce_traffic(JobId job);
  /// Opens the next iterations of a job that has none in flight.
  void open_next(JobId job);
  void complete(const Completion& done);
  /// Counts an operation of a round (PlannedRounds) that has ended.
  void end_in_round(const Completion& done);
  void drain();
  void end_iteration(JobId job);
  [[nodiscard]] bool all_have_begun(JobId job, Slot slot) const;
  void drop_late(JobId job, Slot slot);
  /// True if the rank has done all tasks of which it would be late.
  [[nodiscard]] bool has_done_awaited(const Completion& done) const;
  /// The first rank has done them: starts the time after which those that have not are late.
  void start_patience(JobId job, Slot slot);
  void forget_patience(JobRun& run);
  void end_patience(const Expired& expired);
  void cut_off(CellId cell);
  void drop_on_lanes(CellId cell, JobId job, Slot slot);
  void report_on_lane(CellId cell, JobId job, const LaneState& lane);
  void contribute(const Completion& done, OpId after, Slot slot, bool announce);
  /// Starts an operation that is ready; a task goes to the `seat`th occupant of the cell.
  void announce(JobId job, OpId op, Slot slot, CellId cell, std::uint16_t seat = 0);
  [[nodiscard]] bool is_carried(const Traffic& traffic) const;
  /// A post or an await begins.
  void count(JobId job, OpId op, Slot slot);
  void note_counted(JobId job, OpId op);
  void start_timer(JobId job, OpId op, Slot slot);
  void end_timer(JobId job, const RunningTimer& timer);
  void transfer_ready(JobId job, OpId op, Slot slot, CellId cell);
  /// The message of a rank, or the collective of its whole role, and the servers between which it passes.
  [[nodiscard]] Traffic traffic_of(JobId job, OpId op, Slot slot, int rank);
  void start_task(CellId cell);
  void start_on_lanes(CellId cell);
  [[nodiscard]] bool keeps_its_gpus(const Cell& cell);
  [[nodiscard]] CellId peer_cell(const Completion& done, OpId after);

  EngineState& state_;
  Courier& courier_;
  std::function<void(JobId)> on_finished_, on_checkpoint_;
  bool has_lanes_ = false;             // a job with tasks on lanes has begun
  std::vector<Completion> done_now_;   // operations that take no time
  std::vector<Begun> begun_;           // at this instant, without late ranks
  std::vector<Begun> to_start_;        // at this instant, on hosts
  std::vector<Expired> expired_;       // at this instant
  std::vector<Traffic> ended_;         // scratch
  std::vector<HostUseId> ended_uses_;  // scratch
  std::vector<CellId> just_started_;
};

}  // namespace contend
