#pragma once
// Availability is a step function of time: it says how much is free at each future time. Policies that plan ahead use
// it.

#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace contend {

/// Amounts may have any unit, such as thousandths of a GPU. The cost of an operation is linear in the number of steps
/// in the interval that it touches.
class Availability {
 public:
  explicit Availability(std::int64_t free) : free_{{Time{}, free}} {}

  /// Subtracts `width` from the free amount in [from, to). A negative width gives it back.
  void take(Time from, Time to, std::int64_t width);
  /// Returns the first time at or after `from` from which `width` is free for `length`; Time::never() if there is none.
  [[nodiscard]] Time earliest(Time from, Time length, std::int64_t width) const;
  [[nodiscard]] std::int64_t at(Time time) const { return std::prev(free_.upper_bound(time))->second; }
  /// Returns the first time after `time` at which the free amount changes; Time::never() if it does not change.
  [[nodiscard]] Time next_change(Time time) const;
  /// Forgets the steps before `now`.
  void forget(Time now);
  [[nodiscard]] std::size_t steps() const { return free_.size(); }

 private:
  std::map<Time, std::int64_t>::iterator split(Time at);

  std::map<Time, std::int64_t> free_;  // the amount from that time until the next one
};

/// Returns `a + b`, or Time::never() if the sum is not representable.
[[nodiscard]] constexpr Time later(Time a, Time b) {
  return b < Time::never() - a ? a + b : Time::never();
}

}  // namespace contend
