// The part of Outages that has jobs fail by the time-out of their collectives, when a transfer has no route.

#include "sim/outages.hpp"

#include <algorithm>

namespace contend {

/// Schedules the failures of jobs whose transfers stand still, and takes back those of jobs whose transfers go on.
void Outages::watch_stalls() {
  if (!spec_.stalls_fail) return;
  stalls_changed_.clear();
  state_.network->take_stalls(stalls_changed_);
  for (const NetworkModel::Stall& each : stalls_changed_) {
    const auto known = stalls_.find(each.job);
    if (known != stalls_.end()) {
      if (known->second.since == each.since) continue;
      if (state_.calendar.pending(known->second.event)) state_.calendar.cancel(known->second.event);
      stalls_.erase(known);
    }
    if (each.since == Time::never()) continue;
    const JobRun& run = state_.run(each.job);
    const Time delay = spec_.detectors.delay(FoundBy::timeout, each.since - run.since, run.mean_iteration());
    const Time at = std::max(state_.clock, each.since + delay);
    const EventHandle event = state_.calendar.schedule(at, Phase::failures, {CalendarEvent::Kind::stall, {}, each.job});
    stalls_[each.job] = {each.since, at, event};
  }
}

}  // namespace contend
