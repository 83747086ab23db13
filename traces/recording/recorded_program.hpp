#pragma once
// One iteration of a recorded rank as operations that wait for each other: what the rank did, without the instants at
// which it did so. recording_graph.hpp joins the programs of all ranks.

#include "sim/graph.hpp"
#include "traces/recording/recording.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// How the iteration of a rank is replayed.
struct ProgramOptions {
  /// Number of the recorded iteration; nothing: of those that the profiler marked and that launched anything the one of
  /// median length, and without marks the whole file.
  std::optional<std::int64_t> iteration;
  bool host = true;  ///< kernels wait for the host that launches them; false: the host takes no time (CUDA graphs)
  /// Factors on the durations of kernels whose names contain a text, whatever its case; of several the longest text.
  std::map<std::string, double> kernels;

  bool operator==(const ProgramOptions&) const = default;
};

enum class ProgramKind : std::uint8_t {
  task,        ///< on a lane of the rank
  pause,       ///< time in which no lane works
  collective,  ///< of a group
  send,
  receive,
};

/// An operation of a program. It waits for `needs` of its iteration and `before` of the iteration before, which are
/// indices of operations.
struct ProgramOp {
  ProgramKind kind = ProgramKind::task;
  Lane lane = Lane::compute;     ///< of a task
  std::uint32_t task = kNoTask;  ///< of the recording; none: the host between two launches, or a pause
  Time duration;                 ///< of communication as it was recorded
  std::vector<std::uint32_t> needs{}, before{};

  bool operator==(const ProgramOp&) const = default;
};

struct RecordedProgram {
  std::vector<ProgramOp> ops;
  std::int64_t iteration = -1;  ///< number of the recorded iteration; -1: the whole file
  Time length;                  ///< of the recorded iteration; 0 if the file doesn't say it
};

/// The program of a rank that was recorded with starts. The device does what was launched within the iteration. An
/// operation of the device waits for its launch, for the one before on its stream, for what the recording says that it
/// needs, and else, as profiles rarely hold the waits of streams, for the last of another stream that ended in the gap
/// in front of it; communication also for the last kernel that was launched before it. What is left of the gap is a
/// pause. The host launches one after the other and waits where a call `...Synchronize` waited for the device. What
/// passes from the first launch to its start at least is no time of the host. Throws InputError for a rank with
/// several GPUs, without anything on its GPU, or without the iteration.
[[nodiscard]] RecordedProgram timed_program(const RecordedRank& rank, const ProgramOptions& options);

/// The program of a trace without starts: `order` has its tasks in an order in which a replay began them, and
/// `durations` their recorded times. A lane does one after the other in that order; an iteration begins when the one
/// before has ended.
[[nodiscard]] RecordedProgram replayed_program(const RecordedRank& rank, std::span<const std::uint32_t> order,
                                               std::span<const Time> durations, const ProgramOptions& options);

}  // namespace contend
