#include "sim/failure_spec.hpp"

#include <algorithm>

namespace contend {

Time stretched(Time rest, std::int32_t now, std::int32_t before) {
  const Int128 ns = (Int128{rest.ns()} * now + before - 1) / before;
  if (Int128{static_cast<std::int64_t>(ns)} != ns) throw_time_overflow();
  return Time::nanoseconds(static_cast<std::int64_t>(ns));
}

Time Detectors::delay(FoundBy by, Time ran, Time iteration) const {
  switch (by) {
    case FoundBy::exit_code:
      return exit_code;
    case FoundBy::heartbeat:
      return heartbeat * missed - Time::nanoseconds(ran.ns() % heartbeat.ns());
    case FoundBy::timeout: {
      if (timeout_iterations <= 0 || iteration == Time{}) return timeout;
      const double ns = timeout_iterations * static_cast<double>(iteration.ns());
      return ns < static_cast<double>(timeout.ns()) ? Time::ceil_nanoseconds(ns) : timeout;
    }
    case FoundBy::delay:
    case FoundBy::slowdown:
    case FoundBy::stall:
      break;
  }
  return Time{};
}

bool FailureSpec::slows() const {
  return jitter > 0 || has_slow_components();
}

bool FailureSpec::has_slow_components() const {
  const auto has_pace = [](const auto& each) { return each.slows.has_value(); };
  return std::any_of(components.begin(), components.end(), has_pace) ||
         std::any_of(outages.begin(), outages.end(), has_pace);
}

}  // namespace contend
