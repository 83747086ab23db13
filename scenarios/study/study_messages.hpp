#pragma once
// What becomes of each message of an iteration, for `contend run --explain`.

#include "models/overlap/iteration.hpp"
#include "models/overlap/problem.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace contend {

struct StudyMessage {
  std::string name;
  std::size_t gradients = 0;           ///< that it stands for; 1 of a piece of one
  Bytes dense;                         ///< of those gradients
  double sent_bytes = 0;               ///< by each worker, as StudyRow::sent_bytes
  Time compress;                       ///< kernels before the first collective
  Time transfer;                       ///< collectives, each alone in the network
  Time decompress;                     ///< kernels between collectives and after the last
  std::vector<Bytes> between_servers;  ///< size of each collective that leaves a server, in their order; not of a total
};

/// The messages of one phase of a compression method.
struct StudyPhase {
  double share = 1;  ///< of all iterations
  std::vector<StudyMessage> messages;
  [[nodiscard]] StudyMessage total() const;
};

/// In the order in which they become ready.
[[nodiscard]] std::vector<StudyMessage> study_messages(const FusedIteration& iteration, const OverlapProblem& problem);

}  // namespace contend
