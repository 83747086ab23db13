#include "validate/schedulers/reference.hpp"
#include "validate/schedulers/reference_servers.hpp"

#include <algorithm>
#include <limits>

namespace contend {

namespace {

/// A job that has arrived and not ended.
struct LiveJob {
  std::size_t job;
  std::int64_t remaining;
  bool running = false;
};

std::int64_t key_of(const LiveJob& live, const ReferenceJob& job, ReferenceOrder order) {
  switch (order) {
    case ReferenceOrder::submission:
      return job.submit;
    case ReferenceOrder::duration:
      return job.duration;
    case ReferenceOrder::gpus:
      return job.gpus;
    case ReferenceOrder::remaining:
      return live.remaining;
    case ReferenceOrder::remaining_service:
      return live.remaining * job.gpus;
  }
  return 0;
}

}  // namespace

ReferenceSchedule reference_walk(std::span<const ReferenceJob> jobs, const ReferenceCluster& cluster,
                                 ReferenceOrder order) {
  ReferenceSchedule schedule{std::vector<std::int64_t>(jobs.size()), std::vector<std::int64_t>(jobs.size()), 0};
  std::vector<LiveJob> live;
  std::size_t arrived = 0;
  std::int64_t now = 0;
  while (arrived < jobs.size() || !live.empty()) {
    std::int64_t next = arrived < jobs.size() ? jobs[arrived].submit : std::numeric_limits<std::int64_t>::max();
    for (const LiveJob& each : live) {
      if (each.running) next = std::min(next, now + each.remaining);
    }
    for (LiveJob& each : live) {
      if (!each.running) {
        schedule.queued[each.job] += next - now;
        continue;
      }
      each.remaining -= next - now;
      if (each.remaining == 0) schedule.finish[each.job] = next;
    }
    now = next;
    std::erase_if(live, [](const LiveJob& each) { return each.remaining == 0; });
    for (; arrived < jobs.size() && jobs[arrived].submit == now; ++arrived) {
      live.push_back({arrived, jobs[arrived].duration});
    }

    std::ranges::stable_sort(live, {}, [&](const LiveJob& each) { return key_of(each, jobs[each.job], order); });
    ReferenceServers servers{cluster};  // thought empty
    for (LiveJob& each : live) {
      const bool runs = servers.take(jobs[each.job].gpus).has_value();
      if (each.running && !runs) ++schedule.preemptions;
      each.running = runs;
    }
  }
  return schedule;
}

}  // namespace contend
