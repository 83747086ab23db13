#pragma once
// A CollectiveSchedule lists the messages that a collective sends, as steps of messages between ranks. It is plain
// data, which the algorithms of algorithm.hpp write.
//
// Schedules are in lock-step or by rank. In lock-step a barrier separates the steps: all messages of a step start
// together, and the slowest one (with the reduction of its data) ends the step for every rank. By rank, as in real
// libraries, a rank sends the message of a step when it has the data of the earlier steps of the stripe and has
// sent its earlier messages, and when the receiver has got its earlier messages onto the wire. So a ring pays the long
// way between servers once a turn for each server and not in every step, and a chain pays it once for each hop and not
// for each chunk. On a symmetric idle network rings take the same time in both ways.

#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace contend {

/// A part of the buffer.
struct ByteRange {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// Part `i` of `parts` of the range. If the size is not divisible, the first parts get one byte more, so that the parts
/// cover the range exactly.
[[nodiscard]] ByteRange part_of(ByteRange range, int parts, int i);

/// One message.
struct Send {
  int from = 0;
  int to = 0;
  ByteRange range;       ///< of the buffer; for all-to-all only its size has a meaning
  bool reduced = false;  ///< true: the receiver adds it to its own data, at gamma per byte; false: it overwrites them
  int stripe = 0;        ///< messages of different stripes don't wait for each other

  bool operator==(const Send& other) const {
    return from == other.from && to == other.to && range.offset == other.range.offset &&
           range.bytes == other.range.bytes && reduced == other.reduced && stripe == other.stripe;
  }
};

/// The messages of one step.
struct Step {
  std::vector<Send> sends;  ///< none of 0 bytes
  std::int64_t repeat = 1;  ///< steady form: the number of consecutive steps of this shape
};

/// The form in which a schedule lists its steps. `exact` lists every step with its true byte ranges. `steady` lists
/// steps between the same pairs once with a repeat count, so that a ring over n ranks is one or two entries of n
/// messages instead of n^2. Steps of a pipeline that alternate are listed one kind after the other, which takes as long
/// if the network is idle. Every message has the size of the largest of its kind, which determines the duration of a
/// step; that is up to one byte per rank and step too much.
enum class StepForm : std::uint8_t { exact, steady };

/// What a communication library expects of a collective on an idle fabric, whatever its messages.
struct LibraryTime {
  Time start_up;       ///< before its bytes, in place of what the steps have before theirs and of their latencies
  double bytes_s = 0;  ///< time of its bytes, > 0
};

/// The steps of a collective.
struct CollectiveSchedule {
  std::string_view algorithm{};  ///< its name in the table of algorithms, or a library's; empty for a message
  int ranks = 0;
  bool by_rank = false;  ///< false: in lock-step
  std::vector<Step> steps;
  /// If there is one, the messages say over which links bytes go, and no more: on an idle fabric which is fast enough
  /// the collective takes that time, else as long as its links need.
  std::optional<LibraryTime> expected{};

  /// The step of that index; adds steps up to it if necessary.
  Step& step(std::size_t index);
  /// Adds a message to a step unless it is empty.
  void send(std::size_t index, int from, int to, ByteRange range, bool reduced, int stripe = 0);
  /// Removes steps without messages.
  void drop_empty_steps();

  [[nodiscard]] std::int64_t step_count() const;  ///< with repetitions
  [[nodiscard]] std::int64_t bytes_sent() const;  ///< over all ranks, with repetitions
};

}  // namespace contend
