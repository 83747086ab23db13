#pragma once
// Messages between servers: holds those that are ready until the communication policy lets them in, hands them to the
// network, and takes them out when they have been delivered. Of the messages in a channel of their job, only the first
// of those committed asks for admission; the next asks when that has entered.

#include "sim/engine_state.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
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
  /// Orders waiting messages: by key of the policy, then as GPUs order tasks.
  struct Asked {
    std::int64_t key = 0;
    Time start;
    JobId job;
    bool later = false;  // of two iterations in flight
    std::int32_t priority = 0;
    OpId op;
    int rank = 0;
    std::size_t index = 0;
    auto operator<=>(const Asked&) const = default;
  };
  /// A message held back, watched by the server that refused it last.
  struct Waiting {
    Traffic traffic;
    ServerId refused_by;
    bool asking = false;  ///< in no channel, or the first that its channel has committed
  };

  [[nodiscard]] TransferRequest request_of(const Traffic& traffic) const;
  [[nodiscard]] bool may_start(std::size_t index);
  [[nodiscard]] const Op& op_of(const Traffic& traffic) const;
  void let_ask(std::size_t index);
  /// Commits what the channel has room for, and lets its first message ask.
  void advance(JobId job, ChannelId channel);
  void ask(std::size_t index);
  void start(std::size_t index);
  void stop_watching(std::size_t index);
  void forget_waiting(std::size_t index);

  EngineState& state_;
  std::vector<Waiting> waiting_;  // a free one has no job
  std::vector<std::size_t> free_waiting_;
  std::vector<std::vector<std::size_t>> refused_by_;  // indices into waiting_, by server
  std::vector<std::size_t> became_ready_;             // at this instant
  std::vector<std::size_t> to_ask_;                   // at this instant: scratch
  std::vector<std::pair<JobId, ChannelId>> moved_;    // channels that got or lost a message at this instant
  std::vector<Asked> willing_;                        // scratch: a heap
  std::vector<ServerId> relieved_;                    // lost a transfer at this instant
  std::vector<TransferId> ended_ids_;                 // scratch
};

}  // namespace contend
