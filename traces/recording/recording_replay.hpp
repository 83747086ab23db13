#pragma once
// Replays traces without starts: each lane does one task at a time, of those that are ready the one with the smallest
// number, as Chakra's files mean it, whose converters keep of the order in a stream only the numbers of nodes.

#include "traces/recording/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace contend {

/// How long a collective takes once its last rank has come, or a message once it is sent. `ranks` counts the ranks of
/// the group.
using TransferTime = std::function<Time(const RecordedRank& rank, const RecordedTask& task, std::size_t ranks)>;

/// The recorded duration of the task.
[[nodiscard]] Time recorded_transfer_time(const RecordedRank& rank, const RecordedTask& task, std::size_t ranks);

/// What a replay gives beside the starts.
struct RecordingReplay {
  Time end;                        ///< of the last task that could be done
  std::int64_t messages = 0;       ///< that arrived
  std::vector<Complaint> waiting;  ///< tasks that wait for ever: a deadlock at `end`, none if all was done
  std::vector<std::vector<std::uint32_t>> order;  ///< by rank: its tasks in the order in which they began
};

/// True if no rank has starts and any has durations or dependencies, by which starts can be found.
[[nodiscard]] bool can_be_replayed(const Recording& recording);

/// Gives each task of the ranks its start and its duration, and makes the ranks timed. A collective holds its lane from
/// the arrival of its rank, so its duration contains waiting for the others. Sends and receives hold no lane: a send
/// ends by itself, a receive with the message. What was never done starts at the end and takes no time.
[[nodiscard]] RecordingReplay replay(Recording& recording, const TransferTime& transfer_time);

}  // namespace contend
