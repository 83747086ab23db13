// AntMan (Xiao et al., OSDI 2020, sections 3 and 4) has jobs whose GPUs are guaranteed, and opportunistic ones that use
// what these leave. A guaranteed job gets GPUs without another one, in order of submission; the first that finds none
// holds back those behind it; a virtual cluster with a quota has a queue of its own. Opportunistic jobs on its GPUs
// stay where memory lets them, and give way where it doesn't. An opportunistic job starts on the GPUs that are used
// least: free ones, then those with a guaranteed job alone; on no GPU are there two opportunistic ones. They start as
// the queue of guaranteed jobs lets them, again in order of submission, and one that finds no GPUs holds back none.
//
// With scheduling.sharing.by_priority guaranteed jobs are not slowed down, as the paper's local coordinator wants it.

#include "policies/registry.hpp"
#include "sim/ports.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

namespace {

class AntMan final : public SchedulingPolicy {
 public:
  explicit AntMan(std::int32_t guaranteed_from) : guaranteed_from_{guaranteed_from} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.submit.ns(); }
  void queued(const JobView& view) override {
    (is_guaranteed(view) ? guaranteed_ : opportunistic_).emplace(view.tie, view.id);
  }

  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    std::map<std::int32_t, JobId> fronts;  // by virtual cluster with a quota, -1: of all others
    for (auto at = guaranteed_.begin(); at != guaranteed_.end();) {
      const std::int32_t vc = cluster.job(at->second).vc;
      JobId& in_front = fronts.try_emplace(cluster.quota_left(vc) < INT_MAX ? vc : -1, JobId::none()).first->second;
      if (in_front.valid() || !starts_guaranteed(cluster, actions, at->second)) {
        in_front.valid() ? actions.blocked(at->second, Why::behind, in_front)
                         : actions.blocked(at->second, Why::no_gpus);
        if (!in_front.valid()) in_front = at->second;
        ++at;
      } else {
        at = guaranteed_.erase(at);
      }
    }
    for (auto at = opportunistic_.begin(); at != opportunistic_.end();) {
      if (actions.start(at->second) || starts_beside(cluster, actions, at->second)) {
        at = opportunistic_.erase(at);
      } else {
        actions.blocked(at->second, Why::no_gpus);
        ++at;
      }
    }
  }

 private:
  [[nodiscard]] bool is_guaranteed(const JobView& view) const { return view.priority >= guaranteed_from_; }

  /// Jobs on a GPU: guaranteed and opportunistic ones.
  struct Use {
    int guaranteed = 0;
    std::vector<JobId> opportunistic;
    bool exists = true;  ///< and it is in service
  };
  [[nodiscard]] Use use_of(const ClusterView& cluster, GpuId gpu) const {
    std::vector<JobId> jobs;
    cluster.jobs_on(gpu, jobs);
    Use use;
    for (const JobId job : jobs) {
      if (is_guaranteed(cluster.job(job)))
        ++use.guaranteed;
      else
        use.opportunistic.push_back(job);
    }
    use.exists = !jobs.empty() || cluster.free_share(gpu) == kWholeGpu;
    return use;
  }

  bool starts_guaranteed(const ClusterView& cluster, SchedulingActions& actions, JobId job) {
    if (actions.start(job)) return true;
    const JobView view = cluster.job(job);
    const ServerRange servers = cluster.servers_for(view);
    const auto per_server = static_cast<std::size_t>(cluster.gpus_per_server(-1));
    // Servers with room for the whole job, the fewest opportunistic jobs first, or whole servers in this order.
    std::vector<std::tuple<int, std::uint32_t, std::vector<GpuId>>> choices;
    for (std::uint32_t s = servers.first; s < servers.last; ++s) {
      std::vector<std::pair<std::size_t, GpuId>> open;
      for (std::size_t g = s * per_server; g < (s + 1) * per_server; ++g)
        if (const Use use = use_of(cluster, GpuId{g}); use.exists && use.guaranteed == 0)
          open.emplace_back(use.opportunistic.size(), g);
      std::ranges::sort(open);
      const auto wanted = std::min(per_server, static_cast<std::size_t>(view.gpus));
      if (open.size() < wanted) continue;
      open.resize(wanted);
      int disturbed = 0;
      std::vector<GpuId> gpus;
      for (const auto& [jobs, gpu] : open) {
        disturbed += static_cast<int>(jobs);
        gpus.push_back(gpu);
      }
      choices.emplace_back(disturbed, s, std::move(gpus));
    }
    std::ranges::sort(choices);
    std::vector<GpuId> chosen;
    for (const auto& [disturbed, server, gpus] : choices)
      for (const GpuId gpu : gpus)
        if (std::ssize(chosen) < view.gpus) chosen.push_back(gpu);
    if (std::ssize(chosen) < view.gpus) return false;
    if (actions.start_at(job, chosen)) return true;
    std::set<JobId> in_the_way;
    for (const GpuId gpu : chosen)
      for (const JobId other : use_of(cluster, gpu).opportunistic) in_the_way.insert(other);
    for (const JobId other : in_the_way) actions.preempt(other, job);
    return actions.start_at(job, chosen);
  }

  bool starts_beside(const ClusterView& cluster, SchedulingActions& actions, JobId job) const {
    const JobView view = cluster.job(job);
    const ServerRange servers = cluster.servers_for(view);
    const auto per_server = static_cast<std::size_t>(cluster.gpus_per_server(-1));
    std::vector<std::pair<int, GpuId>> open;
    for (std::size_t g = servers.first * per_server; g < servers.last * per_server; ++g) {
      const Use use = use_of(cluster, GpuId{g});
      if (!use.exists || !use.opportunistic.empty()) continue;
      std::vector<JobId> jobs;
      cluster.jobs_on(GpuId{g}, jobs);
      if (jobs.empty() || cluster.speed_beside(job, jobs, view.server_type) > 0) open.emplace_back(use.guaranteed, g);
    }
    if (std::ssize(open) < view.gpus) return false;
    std::ranges::sort(open);
    std::vector<GpuId> chosen;
    for (int i = 0; i < view.gpus; ++i) chosen.push_back(open[static_cast<std::size_t>(i)].second);
    return actions.start_at(job, chosen);
  }

  std::int32_t guaranteed_from_;
  std::map<std::int64_t, JobId> guaranteed_, opportunistic_;  // waiting, by JobView::tie
};

std::unique_ptr<SchedulingPolicy> make_antman(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<AntMan>(static_cast<std::int32_t>(parameters.get<std::int64_t>("guaranteed_from")));
}

}  // namespace

PolicyRow<SchedulingPolicy> antman_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      {"guaranteed_from", std::int64_t{1}, -1e9, 1e9,
       "jobs with this priority or a larger one have their GPUs guaranteed; all others are opportunistic"}};
  return {.name = "antman",
          .summary = "jobs with guaranteed GPUs, and opportunistic ones on what these leave of them",
          .source = "Xiao et al., OSDI 2020",
          .parameters = kParameters,
          .make = make_antman,
          .one_type = true,
          .shares = GpuShares::by_law};
}

}  // namespace contend
