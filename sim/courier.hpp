#pragma once
// Messages between servers: holds those that are ready until the communication policy lets them in, hands them to the
// network, and takes them out when they have been delivered.

#include "sim/engine_state.hpp"

#include <cstddef>
#include <vector>

namespace contend {

class Courier {
 public:
  explicit Courier(EngineState& state);

  /// The message became ready at this instant.
  void hold(Traffic traffic);
  /// Asks the communication policy about messages that became ready, or that were refused by a server which has lost a
  /// transfer since.
  void admit();
  /// Ends the transfers that are due now and appends them in order of their ids.
  void end_due(std::vector<Traffic>& ended);
  /// Drops all messages and transfers of a job.
  void abandon(JobId job);
  /// Time of the message if it were alone in the network.
  [[nodiscard]] Time solo_time(const Traffic& traffic) const;

 private:
  struct Asked;
  /// A message held back, watched by the server that refused it last.
  struct Waiting {
    Traffic traffic;
    ServerId refused_by;
  };

  [[nodiscard]] TransferRequest request_of(const Traffic& traffic) const;
  [[nodiscard]] bool may_start(std::size_t index);
  void start(std::size_t index);
  void stop_watching(std::size_t index);
  void forget_waiting(std::size_t index);

  EngineState& state_;
  std::vector<Waiting> waiting_;  // a free one has no job
  std::vector<std::size_t> free_waiting_;
  std::vector<std::vector<std::size_t>> refused_by_;  // indices into waiting_, by server
  std::vector<std::size_t> became_ready_;             // at this instant
  std::vector<std::size_t> to_ask_;                   // scratch
  std::vector<ServerId> relieved_;                    // lost a transfer at this instant
  std::vector<TransferId> ended_ids_;                 // scratch
};

}  // namespace contend
