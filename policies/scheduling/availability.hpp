#pragma once
// How much is free at each future time, as a step function, for policies that plan ahead.

#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace contend {

/// Widths of any unit. All operations are linear in the number of steps of the stretch that they touch.
class Availability {
 public:
  explicit Availability(std::int64_t free) : free_{{Time{}, free}} {}

  /// Takes `width` off what is free in [from, to); negative: gives it back.
  void take(Time from, Time to, std::int64_t width);
  /// The first time from `from` on at which `width` is free for `length`. Time::never() if there is none.
  [[nodiscard]] Time earliest(Time from, Time length, std::int64_t width) const;
  [[nodiscard]] std::int64_t at(Time time) const { return std::prev(free_.upper_bound(time))->second; }
  /// The first time after `time` at which what is free changes; Time::never() if it doesn't.
  [[nodiscard]] Time next_change(Time time) const;
  /// What was before `now` is forgotten.
  void forget(Time now);
  [[nodiscard]] std::size_t steps() const { return free_.size(); }

 private:
  std::map<Time, std::int64_t>::iterator split(Time at);

  std::map<Time, std::int64_t> free_;  // from that time until the next
};

/// `a + b`, or never where that is beyond all times.
[[nodiscard]] constexpr Time later(Time a, Time b) {
  return b < Time::never() - a ? a + b : Time::never();
}

}  // namespace contend
