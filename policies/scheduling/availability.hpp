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
/// The steps are a treap by time. Each node knows the smallest and the largest amount of its subtree, and what is still
/// to be added to all amounts below it. Every operation is O(log n) of the steps, except earliest(), which visits k
/// gaps that are too short one after the other, in a single walk through the steps. Priorities come from a counter, so
/// that the shape is the same in every run.
class Availability {
 public:
  explicit Availability(std::int64_t free) { root_ = make(Time{}, free); }

  /// Subtracts `width` from the free amount in [from, to). A negative width gives it back.
  void take(Time from, Time to, std::int64_t width);
  /// Returns the first time at or after `from` from which `width` is free for `length`; Time::never() if there is none.
  [[nodiscard]] Time earliest(Time from, Time length, std::int64_t width) const;
  [[nodiscard]] std::int64_t at(Time time) const;
  /// Returns the first time after `time` at which the free amount changes; Time::never() if it does not change.
  [[nodiscard]] Time next_change(Time time) const;
  /// Forgets the steps before `now`.
  void forget(Time now);
  [[nodiscard]] std::size_t steps() const { return nodes_.size() - unused_.size(); }

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = UINT32_MAX;
  struct Node {
    Time begin;                              // the amount holds from here until the next step
    std::int64_t amount = 0;                 // without what is to be added to the nodes above
    std::int64_t smallest = 0, largest = 0;  // of the subtree, likewise
    std::int64_t to_add = 0;                 // to all amounts below this node
    std::uint64_t priority = 0;
    Index left = kNone, right = kNone;
  };
  /// The search for a gap: a time in which enough is free.
  struct Search {
    Time from, length;
    std::int64_t width;
    Time start;  // of the gap that is open; Time::never() while there is none
  };

  [[nodiscard]] Index make(Time begin, std::int64_t amount);
  void add(Index node, std::int64_t amount);
  void pass_on(Index node);
  void update(Index node);
  void split(Index node, Time at, Index& before, Index& from);  // `from` gets the steps that begin at `at` or later
  [[nodiscard]] Index merge(Index before, Index after);
  void drop(Index node);
  [[nodiscard]] bool begins_at(Time time) const { return next_change(time - Time::nanoseconds(1)) == time; }
  void begin_step(Time at);
  /// Joins the step that begins at `at` to the one before it if they are equal.
  void join(Time at);
  /// Returns the first time after `time` at which a step below the node begins; Time::never() if there is none.
  [[nodiscard]] Time next_begin(Index node, Time time) const;
  /// Continues a search over the steps below the node that begin after Search::from. Returns true if the open gap is
  /// long enough. `added` is the sum of what is to be added on the way from the root.
  [[nodiscard]] bool finds(Search& search, Index node, std::int64_t added) const;
  /// Opens or closes a gap where a step with or without enough begins. Returns true if the open gap is long enough.
  [[nodiscard]] static bool reaches(Search& search, Time begin, bool has_enough);

  Time begin_{};  // of the first step
  std::vector<Node> nodes_;
  std::vector<Index> unused_;
  std::uint64_t made_ = 0;
  Index root_ = kNone;
};

/// Returns `a + b`, or Time::never() if the sum is not representable.
[[nodiscard]] constexpr Time later(Time a, Time b) {
  return b < Time::never() - a ? a + b : Time::never();
}

}  // namespace contend
