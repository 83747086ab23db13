#pragma once
// The cost of each message of an iteration, for `contend run --explain` and `contend explain`.

#include "models/overlap/iteration.hpp"
#include "models/overlap/iteration_account.hpp"
#include "models/overlap/problem.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// One message: some gradients, their compression and their transfer.
struct StudyMessage {
  std::string name;
  std::size_t gradients = 0;           ///< gradients in the message; 1 for a piece of one
  Bytes dense;                         ///< uncompressed size of those gradients
  double sent_bytes = 0;               ///< by each worker
  Time compress;                       ///< time of the kernels before the first collective
  Time transfer;                       ///< time of the collectives, each alone in the network
  Time decompress;                     ///< time of the kernels between collectives and after the last
  Time off_gpu;                        ///< time of timers: copies between GPU and host, work of the host
  double exposed_s = 0;                ///< for which the GPU was idle because of its collectives
  std::vector<Bytes> between_servers;  ///< size of each collective that leaves a server, in order; empty in a total
};

/// The messages of one phase of a compression method.
struct StudyPhase {
  double share = 1;  ///< share of all iterations
  std::vector<StudyMessage> messages;
  [[nodiscard]] StudyMessage total() const;
};

/// The messages of an iteration, phase by phase, in the order in which they become ready.
struct PhasedMessages {
  struct Place {
    std::size_t phase, message;
  };
  std::vector<StudyPhase> phases;                   ///< those that have a share
  std::map<std::string, Place, std::less<>> by_op;  ///< of their kernels, collectives and timers, by name

  /// The message that an operation is for, and its phase; nullptr if it is for none.
  [[nodiscard]] StudyMessage* of(std::string_view op);
  [[nodiscard]] const StudyPhase* phase_of(std::string_view op) const;
  /// What a task is to the account of the iteration.
  [[nodiscard]] IterationPart kind_of(const Op& op) const;
};
[[nodiscard]] PhasedMessages phased_messages(const FusedIteration& iteration, const OverlapProblem& problem);

/// The messages of a job, phase by phase, and for what the GPU of a worker spent the mean iteration.
struct StudyMessages {
  std::string job;
  std::vector<StudyPhase> phases;        ///< those that have a share
  std::vector<AccountRow> account = {};  ///< adds up to the time of the iteration, within its rounding
  bool measured = false;                 ///< transfers were beside others, and have no closed form
};

/// One figure of a message.
struct MessageColumn {
  std::string_view name;
  std::string_view title;
  double shown;
  std::string_view text;
  double (*value)(const StudyMessage&);
  bool if_any = false;  ///< tables have it only where a message has some
};
[[nodiscard]] std::span<const MessageColumn> message_columns();
/// The reference of messages.csv.
[[nodiscard]] std::string messages_markdown();

}  // namespace contend
