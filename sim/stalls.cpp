#include "sim/stalls.hpp"

#include <algorithm>

namespace contend {

void Stalls::watch() {
  const FailureSpec& spec = state_.options.failures;
  if (!spec.stalls_fail) return;
  changed_.clear();
  state_.network->take_stalls(changed_);
  for (const NetworkModel::Stall& each : changed_) {
    const auto known = stalls_.find(each.job);
    if (known != stalls_.end()) {
      if (known->second.since == each.since) continue;
      if (state_.calendar.pending(known->second.event)) state_.calendar.cancel(known->second.event);
      stalls_.erase(known);
    }
    if (each.since == Time::never()) continue;
    const JobRun& run = state_.run(each.job);
    const Time delay = spec.detectors.delay(FoundBy::timeout, each.since - run.since, run.mean_iteration());
    const Time at = std::max(state_.clock, each.since + delay);
    const EventHandle event = state_.calendar.schedule(at, Phase::failures, {CalendarEvent::Kind::stall, {}, each.job});
    stalls_[each.job] = {each.since, at, event};
  }
}

std::vector<JobId> Stalls::due() const {
  std::vector<JobId> jobs;
  for (const auto& [job, stall] : stalls_)
    if (stall.at == state_.clock && !state_.calendar.pending(stall.event)) jobs.push_back(job);
  return jobs;
}

}  // namespace contend
