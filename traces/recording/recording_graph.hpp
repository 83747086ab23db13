#pragma once
// A recording as a source of the iteration graph of a job: the programs of its ranks, joined by what they communicate.

#include "sim/graph.hpp"
#include "traces/recording/recorded_groups.hpp"
#include "traces/recording/recording.hpp"

#include <cstdint>

namespace contend {

struct RecordingGraph {
  IterationGraph graph;
  Time length;                  ///< of the recorded iteration, the longest of all ranks; 0 if no file says it
  std::int64_t iteration = -1;  ///< its number; -1: the recording is one
};

/// The collective that a network of `ranks` carries for what was recorded, and the bytes of its whole tensor: of a
/// gather of which only the part of the rank was recorded, as in Chakra's files, so many parts. Nothing for what wasn't
/// recorded.
struct CarriedCollective {
  std::optional<CollectiveKind> kind;
  std::optional<Bytes> bytes;
};
[[nodiscard]] CarriedCollective carried_by_network(const RecordedTransfer& transfer, std::size_t ranks);

/// The graph of a job of so many GPUs. Rank r of the job does what rank r modulo the recorded ranks did. Groups of
/// all ranks, and those named by `spread`, join all copies; others are repeated in each copy. Ranks that follow each
/// other and do the same are one role. A collective of which all ranks have come takes what the network says for its
/// bytes; with `recorded_communication` the shortest of the recorded times of its ranks, because the others contain
/// waiting. Throws InputError if the recording has faults, ranks lack files, the GPUs or the groups don't fit, ranks
/// disagree on what they communicate, or the recording doesn't say what is sent.
[[nodiscard]] RecordingGraph recording_graph(const Recording& recording, int gpus, const RecordingOptions& options);

}  // namespace contend
