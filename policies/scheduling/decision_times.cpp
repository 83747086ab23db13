#include "policies/scheduling/decision_times.hpp"

#include "policies/scheduling/availability.hpp"

#include <algorithm>

namespace contend {

Time DecisionTimes::multiple_from(Time time, Time step) {
  if (step == Time{}) return time;
  const std::int64_t beyond = time.ns() % step.ns();
  return beyond == 0 ? time : later(time, step - Time::nanoseconds(beyond));
}

double DecisionTimes::seconds(Time from, Time to) const {
  const bool is_regular = period_ == Time{} || quantum_ == Time{};
  const Time step = std::max(period_, quantum_);
  if (!is_regular || step == Time{}) return (to - from).to_seconds();
  return static_cast<double>((to - from).ns() / step.ns()) * step.to_seconds();
}

bool DecisionTimes::is_decision(Time pass) const {
  // A multiple of the period lies behind the last instant at which there may have been a pass.
  return !has_period() || pass.ns() % period_.ns() < std::max<std::int64_t>(1, quantum_.ns());
}

Time DecisionTimes::first_from(Time time) const {
  const Time pass = multiple_from(time, quantum_);
  return is_decision(pass) ? pass : multiple_from(multiple_from(pass, period_), quantum_);
}

}  // namespace contend
