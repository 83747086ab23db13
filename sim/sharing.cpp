#include "sim/sharing.hpp"

#include <algorithm>

namespace contend {

Int128 SharedClock::exact(Time now) const {
  Int128 shown = shown_;
  std::int64_t passed = std::max<std::int64_t>(0, (now - at_).ns());
  if (shown < restart_) {
    const auto restarting =
        static_cast<std::int64_t>(std::min(Int128{passed}, (restart_ - shown + kFullSpeed - 1) / kFullSpeed));
    shown += Int128{restarting} * kFullSpeed;
    passed -= restarting;
  }
  return shown + Int128{passed} * speed_;
}

Time SharedClock::shown(Time now) const {
  return Time::nanoseconds(static_cast<std::int64_t>(exact(now) / kFullSpeed));
}

Time SharedClock::when(Time shows) const {
  const Int128 wanted = Int128{shows.ns()} * kFullSpeed;
  Int128 at = at_.ns(), shown = shown_;
  if (shown < restart_ && shown < wanted) {
    const Int128 restarting = (std::min(restart_, wanted) - shown + kFullSpeed - 1) / kFullSpeed;
    at += restarting;
    shown += restarting * kFullSpeed;
  }
  if (shown < wanted) at += (wanted - shown + speed_ - 1) / speed_;
  if (at > Int128{Time::never().ns()}) throw_time_overflow();
  return Time::nanoseconds(static_cast<std::int64_t>(at));
}

}  // namespace contend
