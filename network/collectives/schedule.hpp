#pragma once
// What a collective sends: steps of messages between ranks. Pure data, written by the algorithms of algorithm.hpp.
//
// Steps are coupled by a barrier: all messages of a step start together, and the slowest of them (with the reduction of
// what it brought) ends the step for every rank. Real libraries let a rank go on as soon as its own messages are there;
// on a symmetric idle network that is the same, on an uneven one the barrier is the upper bound of the two by less than
// the skew that builds up between ranks, and a ring, where every rank waits for its neighbour, pays it either way.

#include "sim/units.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// A part of the buffer.
struct ByteRange {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// Part `i` of `parts` of the range. Sizes that are not divisible: the first parts get one byte more, so that the parts
/// cover the range exactly.
[[nodiscard]] ByteRange part_of(ByteRange range, int parts, int i);

/// One message.
struct Send {
  int from = 0;
  int to = 0;
  ByteRange range;       ///< of the buffer; for all-to-all only the size has a meaning
  bool reduced = false;  ///< the receiver adds it to its own, at gamma per byte; otherwise it overwrites

  bool operator==(const Send& other) const {
    return from == other.from && to == other.to && range.offset == other.range.offset &&
           range.bytes == other.range.bytes && reduced == other.reduced;
  }
};

struct Step {
  std::vector<Send> sends;  ///< none empty
  std::int64_t repeat = 1;  ///< steady form: that many steps of this shape after each other
};

/// `exact`: every step by itself, every byte range true. `steady`: steps that send between the same pairs are written
/// once and repeated, so that a ring over n ranks is one or two entries of n messages instead of n^2; those of a
/// pipeline that alternate stand one after the other, which alone on the network takes as long. Every message has the
/// size of the largest of its kind, which is what a step takes: up to one byte per rank and step too much.
enum class StepForm : std::uint8_t { exact, steady };

struct CollectiveSchedule {
  int ranks = 0;
  std::vector<Step> steps;

  /// The step, made if it isn't there yet.
  Step& step(std::size_t index);
  /// Writes the message unless it is empty.
  void send(std::size_t index, int from, int to, ByteRange range, bool reduced);
  /// Drops steps in which nothing is sent.
  void drop_empty_steps();

  [[nodiscard]] std::int64_t step_count() const;  ///< with repetitions
  [[nodiscard]] std::int64_t bytes_sent() const;  ///< over all ranks, with repetitions
};

}  // namespace contend
