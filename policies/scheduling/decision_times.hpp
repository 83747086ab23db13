#pragma once
// DecisionTimes are the instants at which a policy with a period decides: once for each multiple of the period, in the
// first pass that is not before it. Passes come at multiples of a quantum only (SchedulingRules::quantum), which need
// not divide the period.

#include "sim/units.hpp"

namespace contend {

class DecisionTimes {
 public:
  /// A period of 0: a decision in every pass. A quantum of 0: a pass at any instant. Both are >= 0.
  explicit DecisionTimes(Time period = {}, Time quantum = {}) : period_{period}, quantum_{quantum} {}

  [[nodiscard]] Time period() const { return period_; }
  [[nodiscard]] bool has_period() const { return period_ > Time{}; }
  /// True if there may be a decision at any instant.
  [[nodiscard]] bool are_anywhere() const { return period_ == Time{} && quantum_ == Time{}; }
  /// True if the pass at that instant is one that decides.
  [[nodiscard]] bool is_decision(Time pass) const;
  /// The first decision that is not before `time`.
  [[nodiscard]] Time first_from(Time time) const;
  /// The seconds from one decision to another. If all are equally far from each other, it is a multiple of the
  /// seconds to the next one, so that as many periods always take as long.
  [[nodiscard]] double seconds(Time from, Time to) const;
  /// The instant after `now` for which a policy asks for a pass; has_period().
  [[nodiscard]] Time next_asked(Time now) const { return period_ * (now.ns() / period_.ns() + 1); }

 private:
  [[nodiscard]] static Time multiple_from(Time time, Time step);

  Time period_, quantum_;
};

}  // namespace contend
