#pragma once
// Executes iteration graphs: tasks on cells, transfers in the network.
//
// An operation starts when all that it waits for has ended. Two iterations of a job may be in flight: an operation of
// the next one starts as soon as its own dependencies (lag 0 and 1) allow it.

#include "sim/engine_state.hpp"

#include <functional>
#include <vector>

namespace contend {

class Executor {
 public:
  /// `on_finished` is called when the last iteration of a job has ended.
  Executor(EngineState& state, std::function<void(JobId)> on_finished);

  /// Opens the first iterations of a job that has just been seated.
  void begin(JobId job);
  /// Drops the iterations in flight of a job that is about to be preempted: its messages and transfers.
  void abandon(JobId job);

  void on_task_end(CellId cell);
  /// Ends the transfers that are due now.
  void end_transfers();
  /// Asks the communication policy about messages that became ready, or whose servers lost a transfer.
  void admit_messages();
  /// Every touched idle cell takes the ready task with the smallest key.
  void dispatch();

 private:
  struct Completion {
    JobId job;
    OpId op;
    Slot slot;
    CellId cell;  // of the rank; none for a collective
  };

  struct Asked;

  void open(JobId job, Slot slot, bool first);
  void complete(const Completion& done);
  void drain();
  void end_iteration(JobId job);
  void contribute(const Completion& done, OpId after, Slot slot, bool announce);
  void announce(JobId job, OpId op, Slot slot, CellId cell);
  void transfer_ready(JobId job, OpId op, Slot slot, CellId cell);
  void start_task(CellId cell);
  void start_transfer(std::size_t index);
  void forget_waiting(std::size_t index);
  [[nodiscard]] TransferRequest request_of(const Traffic& traffic) const;
  [[nodiscard]] CellId peer_cell(const Completion& done, OpId after);

  EngineState& state_;
  std::function<void(JobId)> on_finished_;
  std::vector<Completion> done_now_;  // operations that take no time
  std::vector<Traffic> waiting_;      // slots; a free one has no job
  std::vector<std::size_t> free_waiting_;
  std::vector<std::vector<std::size_t>> waiting_on_server_;
  std::vector<std::size_t> to_ask_;            // became ready at this instant
  std::vector<std::uint64_t> asked_in_round_;  // by index into waiting_
  std::uint64_t asking_round_ = 0;
  std::vector<ServerId> relieved_;  // servers that lost a transfer at this instant
  std::vector<TransferId> ended_;
  std::vector<CellId> just_started_;
};

}  // namespace contend
