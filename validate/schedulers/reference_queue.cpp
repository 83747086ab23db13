#include "validate/schedulers/reference.hpp"
#include "validate/schedulers/reference_servers.hpp"

#include <algorithm>

namespace contend {

namespace {

struct RunningJob {
  std::size_t job;
  std::int64_t end;
  ReferencePlace place;
};

std::int64_t key_of(const ReferenceJob& job, ReferenceOrder order) {
  return order == ReferenceOrder::duration ? job.duration : order == ReferenceOrder::gpus ? job.gpus : job.submit;
}

std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

ReferenceSchedule reference_queue(std::span<const ReferenceJob> jobs, const ReferenceCluster& cluster,
                                  const ReferenceRules& rules) {
  ReferenceSchedule schedule{std::vector<std::int64_t>(jobs.size()), std::vector<std::int64_t>(jobs.size()), 0};
  ReferenceServers servers{cluster};
  std::vector<std::size_t> queue;
  std::vector<RunningJob> running;
  std::size_t arrived = 0;
  while (arrived < jobs.size() || !running.empty()) {
    std::int64_t next = arrived < jobs.size() ? jobs[arrived].submit : kNever;
    for (const RunningJob& each : running) next = std::min(next, each.end);
    const std::int64_t now = round_up(next, rules.quantum);

    std::erase_if(running, [&](const RunningJob& each) {
      if (each.end > now) return false;
      servers.give_back(each.place);
      return true;
    });
    while (arrived < jobs.size() && jobs[arrived].submit <= now) queue.push_back(arrived++);

    std::ranges::stable_sort(queue, {}, [&](std::size_t job) { return key_of(jobs[job], rules.order); });
    std::vector<std::size_t> waiting;
    for (const std::size_t job : queue) {
      const bool blocked = rules.strict && !waiting.empty();
      std::optional<ReferencePlace> place;
      if (!blocked) place = servers.take(jobs[job].gpus);
      if (!place) {
        waiting.push_back(job);
        continue;
      }
      schedule.queued[job] = now - jobs[job].submit;
      schedule.finish[job] = now + jobs[job].duration;
      running.push_back({job, schedule.finish[job], *place});
    }
    queue = waiting;
  }
  return schedule;
}

double average_jct(std::span<const ReferenceJob> jobs, const ReferenceSchedule& schedule) {
  double sum = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) sum += static_cast<double>(schedule.finish[i] - jobs[i].submit);
  return jobs.empty() ? 0 : sum / static_cast<double>(jobs.size());
}

double average_queueing(const ReferenceSchedule& schedule) {
  double sum = 0;
  for (const std::int64_t queued : schedule.queued) sum += static_cast<double>(queued);
  return schedule.queued.empty() ? 0 : sum / static_cast<double>(schedule.queued.size());
}

}  // namespace contend
