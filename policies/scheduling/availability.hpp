#pragma once
// Availability is a step function of time: it says how much is free at each future time. Policies that plan ahead use
// it.

#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend {

/// Amounts may have any unit, such as thousandths of a GPU.
///
/// A plan of 100,000 waiting jobs has as many gaps, nearly all of them too short for the job that is planned next. So
/// the steps lie in blocks. A block knows its smallest and its largest amount, what is still to be added to all its
/// amounts, and, for each width that has been asked for, a bound on the gaps that begin in it. earliest() looks at the
/// steps of a block only if that bound is unknown or long enough, and then makes it exact. A change of the plan makes
/// unknown the bounds of the blocks that it touches.
class Availability {
 public:
  /// At every time `free` is free. A block has at most `steps_per_block` steps, 2 at least; tests use few.
  explicit Availability(std::int64_t free, std::size_t steps_per_block = 256);

  /// Subtracts `width` from the free amount in [from, to). A negative width gives it back.
  void take(Time from, Time to, std::int64_t width);
  /// Returns the first time at or after `from` from which `width` is free for `length`; Time::never() if there is none.
  [[nodiscard]] Time earliest(Time from, Time length, std::int64_t width);
  [[nodiscard]] std::int64_t at(Time time) const { return amount(find(time)); }
  /// Returns the first time after `time` at which the free amount changes; Time::never() if it does not change.
  [[nodiscard]] Time next_change(Time time) const { return begin(next(find(time))); }
  /// Forgets the steps before `now`.
  void forget(Time now);
  [[nodiscard]] std::size_t steps() const { return steps_; }

 private:
  struct Step {
    Time begin;               // the amount holds from here until the next step
    std::int64_t amount = 0;  // without Block::added
  };
  struct Block {
    std::vector<Step> steps;
    std::int64_t added = 0;
    std::int64_t smallest = 0, largest = 0;  // with `added`
    [[nodiscard]] std::int64_t amount(std::size_t step) const { return steps[step].amount + added; }
    void measure();
  };
  struct Place {
    std::size_t block = 0, step = 0;
  };
  /// No gap for `width` that begins in block b is longer than longest[b].
  struct Bounds {
    std::int64_t width = 0;
    std::vector<Time> longest;
  };

  [[nodiscard]] Place find(Time time) const;  // the step that holds at `time`
  [[nodiscard]] Place next(Place place) const;
  [[nodiscard]] Time begin(Place place) const {
    return place.block < blocks_.size() ? blocks_[place.block].steps[place.step].begin : Time::never();
  }
  [[nodiscard]] std::int64_t amount(Place place) const { return blocks_[place.block].amount(place.step); }
  void begin_step(Time time);
  /// Joins the step that begins at `time` to the one before it if they are equal.
  void join(Time time);
  void split(std::size_t block);
  void drop_blocks(std::size_t first, std::size_t last);
  /// Subtracts from the steps [first, last) of a block.
  void subtract(std::size_t block, std::size_t first, std::size_t last, std::int64_t width);
  /// Makes unknown the bounds of blocks that a change of the steps [from, to] touches.
  void forget_bounds(Place from, Place to, bool gaps_grow);
  /// Returns the bounds for this width; null if too many other widths have been asked for.
  [[nodiscard]] Bounds* bounds_of(std::int64_t width);
  /// Returns when the gap at a place ends: the first step from there on with less than `width`.
  [[nodiscard]] Time end_of_gap(Place place, std::int64_t width) const;
  /// Returns the begin of the first gap of the length that begins behind a step of a block, in the same block, and
  /// Time::never() if there is none; then `longest` is the length of the longest. `is_open`: a gap reaches that step.
  [[nodiscard]] Time gap_in(Place behind, bool is_open, Time length, std::int64_t width, Time& longest) const;

  std::size_t most_;
  std::size_t steps_ = 1;
  std::vector<Block> blocks_;  // none is empty
  std::vector<Time> begins_;   // of their first steps
  std::vector<Bounds> bounds_;
};

/// Returns `a + b`, or Time::never() if the sum is not representable.
[[nodiscard]] constexpr Time later(Time a, Time b) {
  return b < Time::never() - a ? a + b : Time::never();
}

}  // namespace contend
