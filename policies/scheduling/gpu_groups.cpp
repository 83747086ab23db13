#include "policies/scheduling/gpu_groups.hpp"

#include <algorithm>
#include <set>

namespace contend {

namespace {

std::vector<GpuId> sorted_gpus(const ClusterView& cluster, JobId job) {
  const auto held = cluster.gpus_of(job);
  std::vector<GpuId> gpus{held.begin(), held.end()};
  std::ranges::sort(gpus);
  return gpus;
}

}  // namespace

void run_groups(const ClusterView& cluster, SchedulingActions& actions, std::span<const GpuGroup> groups,
                std::span<const JobId> running) {
  std::set<GpuId> claimed;
  std::set<JobId> stays;
  std::vector<JobId> first(groups.size(), JobId::none());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<GpuId> place;
    for (const JobId job : groups[g].jobs) {
      const std::vector<GpuId> held = sorted_gpus(cluster, job);
      if (held.empty()) continue;
      if (!first[g].valid()) {
        const bool is_there =
            groups[g].type < 0 || cluster.job(job).server_type < 0 || cluster.job(job).server_type == groups[g].type;
        if (!is_there || std::ranges::any_of(held, [&](GpuId gpu) { return claimed.contains(gpu); })) continue;
        first[g] = job;
        place = held;
        claimed.insert(held.begin(), held.end());
      }
      if (held == place) stays.insert(job);
    }
  }
  for (const JobId job : running)
    if (!stays.contains(job)) actions.preempt(job);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const JobId job : groups[g].jobs) {
      if (stays.contains(job)) continue;
      if (first[g].valid()) {
        const auto held = cluster.gpus_of(first[g]);
        const std::vector<GpuId> there{held.begin(), held.end()};
        static_cast<void>(actions.start_at(job, there));
      } else if (groups[g].type < 0 ? actions.start(job) : actions.start_on(job, groups[g].type)) {
        first[g] = job;
      } else {
        break;
      }
    }
  }
}

double joint_speed(const ClusterView& cluster, std::span<const JobId> jobs, std::int32_t type) {
  double sum = 0;
  std::vector<JobId> others;
  for (const JobId job : jobs) {
    others.assign(jobs.begin(), jobs.end());
    std::erase(others, job);
    const double speed = cluster.speed_beside(job, others, type);
    if (speed <= 0) return 0;
    sum += speed;
  }
  return sum;
}

}  // namespace contend
