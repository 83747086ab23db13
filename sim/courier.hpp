#pragma once
// The courier holds messages that are ready until the communication policy admits them, hands them to the network, and
// removes them when they have been delivered. Only the first committed message of a channel asks for admission; the
// next one asks when that has entered the network.

#include "sim/engine_state.hpp"
#include "sim/transfer_forecast.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace contend {

class Courier {
 public:
  explicit Courier(EngineState& state);

  /// Takes a message that became ready at this instant.
  void hold(const Traffic& traffic);
  /// Asks the communication policy about messages that just became ready, and about those refused by a server that has
  /// lost a transfer since.
  void admit();
  /// Ends the transfers that are due now and appends them to `ended` in order of their ids.
  void end_due(std::vector<Traffic>& ended);
  /// Has the processor fetch the messages that admit() will ask about because of the transfers that have just ended.
  void fetch_refused() const;
  /// Has the processor fetch what the end of the next transfer will need, a few lines in each call.
  void foresee();
  /// Tells a network that plans ahead what the job sends: this traffic, so many times an iteration.
  void enter(JobId job, std::span<const Traffic> traffic, std::span<const double> times);
  /// Drops all messages and transfers of a job.
  void abandon(JobId job);
  /// Transfer time of the message if it were alone in the network.
  [[nodiscard]] Time solo_time(const Traffic& traffic) const;

 private:
  /// The order in which waiting messages ask: by key of the policy, then as GPUs order tasks.
  struct Asked {
    PolicyKey key = 0;
    Time start;
    JobId job;
    int later = 0;  // by how many iterations it is behind the first in flight
    std::int32_t priority = 0;
    OpId op;
    int rank = 0;
    std::size_t index = 0;
    auto operator<=>(const Asked&) const = default;
  };
  /// A message held back; the server that refused it last remembers it.
  struct Waiting {
    Traffic traffic;
    ServerId refused_by;
    bool asking = false;  ///< true if in no channel, or the first that its channel has committed
  };

  [[nodiscard]] TransferRequest request_of(const Traffic& traffic) const;
  /// The same of a message that has not entered the network, with TransferRequest::later.
  [[nodiscard]] TransferRequest entering(const Traffic& traffic) const;
  [[nodiscard]] bool may_start(std::size_t index);
  [[nodiscard]] const Op& op_of(const Traffic& traffic) const;
  void let_ask(std::size_t index);
  /// Commits messages while the channel has room, and lets its first committed message ask.
  void advance(JobId job, ChannelId channel);
  void ask(std::size_t index);
  void start(std::size_t index);
  void stop_watching(std::size_t index);
  void forget_waiting(std::size_t index);
  /// True if the message needs no answer, as another one of its iteration has been admitted and answers hold for that.
  [[nodiscard]] bool holds_admission(const Traffic& traffic) const;
  void admit_rest(JobId job, Slot slot);

  EngineState& state_;
  bool per_iteration_;            // CommunicationPolicy::decides_per_iteration
  std::vector<Waiting> waiting_;  // an unused entry has no job
  std::vector<std::size_t> free_waiting_;
  std::vector<std::vector<std::size_t>> refused_by_;  // indices into waiting_, by server
  std::vector<std::size_t> became_ready_;             // at this instant
  std::vector<std::size_t> to_ask_;                   // at this instant; scratch
  std::vector<std::pair<JobId, ChannelId>> moved_;    // channels that got or lost a message at this instant
  std::vector<Asked> willing_;                        // a heap; scratch
  std::vector<ServerId> relieved_;                    // lost a transfer at this instant
  std::vector<TransferId> ended_ids_;                 // scratch
  TransferForecast* forecast_;                        // of the network; null if it has none
  TransferId foreseen_;                               // by foresee()
  std::size_t foreseen_steps_ = 0;                    // since then
};

}  // namespace contend
