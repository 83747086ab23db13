#include "validate/schedulers/reference.hpp"
#include "validate/schedulers/reference_servers.hpp"

#include <algorithm>

namespace contend {

namespace {

constexpr int kGpusPerServer = 8;

struct TickedJob {
  std::size_t job;
  std::int64_t remaining;
  bool running = false;
  ReferencePlace place;
};

std::int64_t restart_cost(int gpus) {
  return gpus == 1 ? 7 : gpus <= kGpusPerServer ? 30 : 60;
}

class HeliosSrtf {
 public:
  HeliosSrtf(std::span<const ReferenceJob> jobs, int servers)
      : jobs_{jobs}, servers_{{servers, kGpusPerServer, ReferencePlacement::consolidated}} {}

  ReferenceSchedule run() {
    schedule_.queued.resize(jobs_.size());
    schedule_.finish.resize(jobs_.size());
    std::size_t arrived = 0;
    std::int64_t now = 0;
    for (; arrived < jobs_.size() || !queue_.empty() || !running_.empty(); ++now) {
      bool changed = end_jobs(now);
      for (; arrived < jobs_.size() && jobs_[arrived].submit == now; ++arrived) {
        queue_.push_back({arrived, jobs_[arrived].duration, false, {}});
        changed = true;
      }
      // Without waiting jobs a decision would change nothing.
      if (changed || !queue_.empty()) decide();
      for (const TickedJob& each : queue_) ++schedule_.queued[each.job];
    }
    return schedule_;
  }

 private:
  bool end_jobs(std::int64_t now) {
    const std::size_t before = running_.size();
    std::erase_if(running_, [&](TickedJob& each) {
      if (each.remaining > 0) {
        --each.remaining;
        return false;
      }
      schedule_.finish[each.job] = now;
      servers_.give_back(each.place);
      return true;
    });
    return running_.size() < before;
  }

  void decide() {
    std::vector<TickedJob*> order;
    for (TickedJob& each : queue_) order.push_back(&each);
    for (TickedJob& each : running_) order.push_back(&each);
    std::ranges::stable_sort(order, {}, [](const TickedJob* each) { return each->remaining; });
    std::vector<TickedJob*> chosen;
    int quota = servers_.total();
    for (TickedJob* each : order) {
      const int gpus = jobs_[each->job].gpus;
      if (gpus <= quota) {
        quota -= gpus;
        if (!each->running) chosen.push_back(each);
      } else if (each->running) {
        preempt(*each);
      }
    }
    for (TickedJob* each : chosen) start(*each);
    regroup();
  }

  void preempt(TickedJob& each) {
    servers_.give_back(each.place);
    each.running = false;
    each.remaining += restart_cost(jobs_[each.job].gpus);
    ++schedule_.preemptions;
  }

  void start(TickedJob& each) {
    std::optional<ReferencePlace> place = servers_.take(jobs_[each.job].gpus);
    if (!place) return;
    each.place = *place;
    each.running = true;
  }

  /// Moves the jobs whose state has changed to the end of the other list.
  void regroup() {
    std::vector<TickedJob> started, stopped;
    std::erase_if(queue_, [&](const TickedJob& each) { return each.running && (started.push_back(each), true); });
    std::erase_if(running_, [&](const TickedJob& each) { return !each.running && (stopped.push_back(each), true); });
    running_.insert(running_.end(), started.begin(), started.end());
    queue_.insert(queue_.end(), stopped.begin(), stopped.end());
  }

  std::span<const ReferenceJob> jobs_;
  ReferenceServers servers_;
  std::vector<TickedJob> queue_, running_;
  ReferenceSchedule schedule_;
};

}  // namespace

ReferenceSchedule reference_helios_srtf(std::span<const ReferenceJob> jobs, int servers) {
  return HeliosSrtf{jobs, servers}.run();
}

}  // namespace contend
