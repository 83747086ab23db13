// AntMan (Xiao et al., OSDI 2020, sections 3 and 4) has jobs whose GPUs are guaranteed, and opportunistic ones that use
// what these leave. A guaranteed job gets GPUs without another one, in order of submission; the first that finds none
// holds back those behind it; a virtual cluster with a quota has a queue of its own. Opportunistic jobs on its GPUs and
// servers stay where memory and CPUs let them, and give way where these don't. An opportunistic job starts on the GPUs
// that are used least: free ones, then those with a guaranteed job alone; on no GPU are there two opportunistic ones.
// They start as the queue of guaranteed jobs lets them, again in order of submission, and one that finds no GPUs holds
// back none.
//
// With scheduling.sharing.by_priority guaranteed jobs are not slowed down, as the paper's local coordinator wants it.

#include "policies/registry.hpp"
#include "policies/scheduling/host_room.hpp"
#include "policies/scheduling/next_places.hpp"
#include "sim/ports.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
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

  /// A server as a guaranteed job sees it.
  struct Choice {
    int disturbed = 0;  ///< opportunistic jobs on `gpus`, each once for each GPU
    std::uint32_t server = 0;
    std::vector<GpuId>
        gpus{};        ///< without a guaranteed job, the least used first, as many as its CPUs and memory allow
    int together = 0;  ///< GPUs that its CPUs and memory would allow if no job ran there
  };
  [[nodiscard]] Choice choice_of(const ClusterView& cluster, const JobView& view, std::uint32_t server) const {
    const auto per_server = static_cast<std::size_t>(cluster.gpus_per_server(-1));
    std::vector<std::pair<std::size_t, GpuId>> open;
    HostRoom without_opportunistic = HostRoom::free_on(cluster, ServerId{server}), empty = without_opportunistic;
    std::vector<JobId> jobs;
    for (std::size_t g = server * per_server; g < (server + 1) * per_server; ++g) {
      const Use use = use_of(cluster, GpuId{g});
      if (use.exists && use.guaranteed == 0) open.emplace_back(use.opportunistic.size(), g);
      for (const JobId job : use.opportunistic) without_opportunistic.add(HostRoom::of_rank(cluster.job(job)), 1);
      jobs.clear();
      cluster.jobs_on(GpuId{g}, jobs);
      for (const JobId job : jobs) empty.add(HostRoom::of_rank(cluster.job(job)), 1);
    }
    std::ranges::sort(open);
    const HostRoom rank = HostRoom::of_rank(view);
    Choice choice{.server = server};
    open.resize(static_cast<std::size_t>(without_opportunistic.ranks(rank, static_cast<int>(open.size()))));
    for (const auto& [users, gpu] : open) choice.gpus.push_back(gpu);
    choice.together = empty.ranks(rank, static_cast<int>(per_server));
    return choice;
  }

  /// True if the placement policy has to say where the job runs.
  [[nodiscard]] static bool needs_placement(const JobView& view) { return view.place >= 0 || view.level >= 0; }
  /// Where the placement policy would put the job beside the guaranteed jobs alone, or the opportunistic ones.
  [[nodiscard]] std::vector<GpuId> place_beside(const ClusterView& cluster, SchedulingActions& actions,
                                                const JobView& view, bool guaranteed) const {
    std::set<JobId> others;
    std::vector<JobId> jobs;
    for (std::size_t g = 0; g < cluster.gpus(); ++g) cluster.jobs_on(GpuId{g}, jobs);
    std::ranges::copy_if(jobs, std::inserter(others, others.end()),
                         [&](JobId job) { return is_guaranteed(cluster.job(job)) != guaranteed; });
    const std::vector<JobId> stopping{others.begin(), others.end()};
    return NextPlaces{cluster, actions, stopping}.place(view.id, -1, HostRoom::of_rank(view));
  }

  /// GPUs without a guaranteed job: of one server, or of several that have as many of them as a server can; those with
  /// the fewest opportunistic jobs. Empty if there are too few.
  [[nodiscard]] std::vector<GpuId> gpus_without_guaranteed(const ClusterView& cluster, const JobView& view) const {
    const ServerRange servers = cluster.servers_for(view);
    std::vector<Choice> choices;
    int together = 0;
    for (std::uint32_t s = servers.first; s < servers.last; ++s) {
      choices.push_back(choice_of(cluster, view, s));
      together = std::max(together, choices.back().together);
    }
    const int wanted = std::min(together, view.gpus);
    std::erase_if(choices, [wanted](const Choice& each) { return std::ssize(each.gpus) < wanted; });
    for (Choice& each : choices) {
      each.gpus.resize(static_cast<std::size_t>(wanted));
      for (const GpuId gpu : each.gpus) each.disturbed += static_cast<int>(use_of(cluster, gpu).opportunistic.size());
    }
    std::ranges::sort(choices, {}, [](const Choice& each) { return std::pair{each.disturbed, each.server}; });
    std::vector<GpuId> chosen;
    for (const Choice& each : choices)
      for (const GpuId gpu : each.gpus)
        if (std::ssize(chosen) < view.gpus) chosen.push_back(gpu);
    if (std::ssize(chosen) < view.gpus) chosen.clear();
    return chosen;
  }

  /// The opportunistic jobs on the GPUs, and then those beside them on servers whose CPUs or memory don't suffice
  /// otherwise, those that came last first.
  [[nodiscard]] std::vector<JobId> in_the_way(const ClusterView& cluster, const JobView& view,
                                              std::span<const GpuId> chosen) const {
    const auto per_server = static_cast<std::size_t>(cluster.gpus_per_server(-1));
    std::set<JobId> gives_way;
    std::map<std::size_t, int> ranks;  // of the job, by server
    for (const GpuId gpu : chosen) {
      ++ranks[gpu.index() / per_server];
      for (const JobId other : use_of(cluster, gpu).opportunistic) gives_way.insert(other);
    }
    std::vector<JobId> order{gives_way.begin(), gives_way.end()};
    for (const auto& [server, needed] : ranks) {
      HostRoom room = HostRoom::free_on(cluster, ServerId{server});
      std::map<std::int64_t, JobId> others;  // by JobView::tie
      for (std::size_t g = server * per_server; g < (server + 1) * per_server; ++g)
        for (const JobId other : use_of(cluster, GpuId{g}).opportunistic) {
          const JobView its = cluster.job(other);
          if (gives_way.contains(other))
            room.add(HostRoom::of_rank(its), 1);
          else
            others.emplace(its.tie, other);
        }
      for (auto at = others.rbegin(); at != others.rend(); ++at) {
        if (room.ranks(HostRoom::of_rank(view), needed) == needed) break;
        for (const GpuId gpu : cluster.gpus_of(at->second))
          if (gpu.index() / per_server == server) room.add(HostRoom::of_rank(cluster.job(at->second)), 1);
        gives_way.insert(at->second);
        order.push_back(at->second);
      }
    }
    return order;
  }

  bool starts_guaranteed(const ClusterView& cluster, SchedulingActions& actions, JobId job) {
    if (actions.start(job)) return true;
    const JobView view = cluster.job(job);
    const std::vector<GpuId> chosen =
        needs_placement(view) ? place_beside(cluster, actions, view, true) : gpus_without_guaranteed(cluster, view);
    if (chosen.empty()) return false;
    if (actions.start_at(job, chosen)) return true;
    const std::vector<JobId> others = in_the_way(cluster, view, chosen);
    std::int64_t quota = cluster.quota_left(view.vc);
    for (const JobId other : others)
      if (const JobView its = cluster.job(other); its.vc == view.vc) quota += its.gpus;
    if (quota < view.gpus) return false;
    for (const JobId other : others) actions.preempt(other, job);
    return actions.start_at(job, chosen);
  }

  bool starts_beside(const ClusterView& cluster, SchedulingActions& actions, JobId job) const {
    const JobView view = cluster.job(job);
    if (needs_placement(view)) {
      const std::vector<GpuId> place = place_beside(cluster, actions, view, false);
      return !place.empty() && actions.start_at(job, place);
    }
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
    std::ranges::sort(open);
    std::map<ServerId, int> ranks;
    std::vector<GpuId> chosen;
    for (const auto& [guaranteed, gpu] : open) {
      if (std::ssize(chosen) == view.gpus) break;
      const ServerId server = cluster.server_of(gpu);
      if (ranks[server] == HostRoom::free_on(cluster, server).ranks(HostRoom::of_rank(view), view.gpus)) continue;
      ++ranks[server];
      chosen.push_back(gpu);
    }
    return std::ssize(chosen) == view.gpus && actions.start_at(job, chosen);
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
