#include "policies/scheduling/gpu_groups.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <vector>

namespace contend {

namespace {

std::vector<GpuId> sorted_gpus(const ClusterView& cluster, JobId job) {
  const auto held = cluster.gpus_of(job);
  std::vector<GpuId> gpus{held.begin(), held.end()};
  std::ranges::sort(gpus);
  return gpus;
}

/// The places on which groups go on, and those where others start.
class GroupPlaces {
 public:
  GroupPlaces(const ClusterView& cluster, std::span<const GpuGroup> groups)
      : cluster_{cluster}, groups_{groups}, firsts_(groups.size(), JobId::none()) {
    for (const GpuGroup& group : groups) needs_.push_back(HostRoom::of_ranks(cluster, group.jobs));
    has_needs_ = std::ranges::any_of(needs_, &HostRoom::any);
    if (!has_needs_) return;
    for (const WholeServer& server : whole_servers(cluster)) hosts_.push_back(server.host);
  }

  /// Decides which running jobs keep their GPUs.
  void keep() {
    for (std::size_t g = 0; g < groups_.size(); ++g) keep(g, true);
    for (std::size_t g = 0; g < groups_.size() && has_needs_; ++g)
      if (!firsts_[g].valid() && !could_start(g)) keep(g, false);
  }
  /// Decides which running jobs of `rest` keep theirs: those that would get them again.
  void keep_rest(SchedulingActions& actions, std::span<const JobId> running, std::span<const JobId> rest) {
    std::vector<JobId> stopping;
    std::ranges::copy_if(running, std::back_inserter(stopping), [&](JobId job) { return !stays(job); });
    NextPlaces next{cluster_, actions, stopping};
    QuotasLeft quotas{cluster_};
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const JobId job = groups_[g].jobs.front();
      for (const JobId each : groups_[g].jobs) quotas.take(cluster_.job(each).vc, cluster_.job(each).gpus);
      if (firsts_[g].valid()) continue;
      Spots spots = next.ask(job, groups_[g].type, needs_[g]);
      if (spots.empty()) spots = next.ask(job, groups_[g].type, HostRoom::of_rank(cluster_.job(job)));
      next.take(spots, needs_[g]);
    }
    for (const JobId job : rest) {
      const JobView view = cluster_.job(job);
      const HostRoom need = HostRoom::of_rank(view);
      const Spots spots = next.ask(job, -1, need);
      if (spots.empty() || !quotas.take(view.vc, view.gpus)) continue;
      next.take(spots, need);
      if (spots == spots_of(cluster_, cluster_.gpus_of(job))) stays_.insert(job);
    }
  }
  [[nodiscard]] bool stays(JobId job) const { return stays_.contains(job); }
  /// The job of the group that the others join; none(): none of it runs where it may stay.
  [[nodiscard]] JobId first(std::size_t group) const { return firsts_[group]; }

  /// Starts the first job of a group where the CPUs and the memory of servers suffice for the whole group, or, if they
  /// do so nowhere, for that job.
  bool start(std::size_t g, SchedulingActions& actions) {
    const GpuGroup& group = groups_[g];
    const JobId job = group.jobs.front();
    const bool starts =
        starts_with_room(g, actions) || (group.type < 0 ? actions.start(job) : actions.start_on(job, group.type));
    if (starts) firsts_[g] = job;
    return starts;
  }

 private:
  /// Has a job of the group keep its GPUs: those where servers have room for the `whole` group, or for the jobs of it
  /// that are there.
  void keep(std::size_t g, bool whole) {
    const GpuGroup& group = groups_[g];
    for (const JobId job : group.jobs) {
      const std::vector<GpuId> place = sorted_gpus(cluster_, job);
      const std::int32_t type = cluster_.job(job).server_type;
      if (place.empty() || (group.type >= 0 && type >= 0 && type != group.type)) continue;
      if (std::ranges::any_of(place, [&](GpuId gpu) { return claimed_.contains(gpu); })) continue;
      std::vector<JobId> there;
      for (const JobId other : group.jobs)
        if (sorted_gpus(cluster_, other) == place) there.push_back(other);
      if (!take(whole ? needs_[g] : HostRoom::of_ranks(cluster_, there), place)) continue;
      firsts_[g] = job;
      claimed_.insert(place.begin(), place.end());
      stays_.insert(there.begin(), there.end());
      return;
    }
  }

  /// Takes CPUs and memory for such ranks on these GPUs. False, and nothing is taken, if a server has too little.
  bool take(const HostRoom& rank, std::span<const GpuId> place) {
    if (!has_needs_) return true;
    std::map<std::size_t, int> ranks;  // by server
    for (const GpuId gpu : place) ++ranks[cluster_.server_of(gpu).index()];
    for (const auto& [server, count] : ranks)
      if (hosts_[server].ranks(rank, count) < count) return false;
    for (const auto& [server, count] : ranks) hosts_[server].add(rank, -count);
    return true;
  }

  /// True if servers have GPUs, CPUs and memory for the group beside the jobs that stay.
  [[nodiscard]] bool could_start(std::size_t g) const {
    const JobId job = groups_[g].jobs.front();
    const ServerRange range = usable_servers(cluster_, cluster_.job(job), groups_[g].type);
    const std::size_t per_server = cluster_.gpus() / cluster_.servers();
    std::vector<JobId> jobs;
    std::int64_t ranks = 0;
    for (std::size_t s = range.first; s < range.last; ++s) {
      int open = 0;
      for (std::size_t gpu = s * per_server; gpu < (s + 1) * per_server; ++gpu) {
        jobs.clear();
        cluster_.jobs_on(GpuId{gpu}, jobs);
        open += !claimed_.contains(GpuId{gpu}) && in_service(cluster_, GpuId{gpu}, jobs) ? 1 : 0;
      }
      ranks += hosts_[s].ranks(needs_[g], open);
    }
    return ranks >= cluster_.job(job).gpus;
  }

  bool starts_with_room(std::size_t g, SchedulingActions& actions) {
    const GpuGroup& group = groups_[g];
    if (group.jobs.size() == 1 || !needs_[g].any()) return false;
    const JobView view = cluster_.job(group.jobs.front());
    const ServerRange range = usable_servers(cluster_, view, group.type);
    const std::size_t per_server = cluster_.gpus() / cluster_.servers();
    PlacePlan::Place room{cluster_.now(), {}};  // so many GPUs of each server as it has room for ranks of the group
    for (std::uint32_t s = range.first; s < range.last; ++s) {
      const int free = cluster_.free_gpus(ServerId{s});
      const int ranks = HostRoom::free_on(cluster_, ServerId{s}).ranks(needs_[g], free);
      for (int rank = 0; rank < ranks; ++rank) room.gpus.emplace_back(s * per_server + static_cast<std::size_t>(rank));
    }
    if (std::ssize(room.gpus) < view.gpus) return false;
    plan_.look_at(cluster_);
    return actions.start_in(view.id, plan_.from_now(view, Time::nanoseconds(1), room));
  }

  const ClusterView& cluster_;
  std::span<const GpuGroup> groups_;
  std::vector<JobId> firsts_;
  std::vector<HostRoom> needs_;  // by group, of a rank of all of its jobs
  std::vector<HostRoom> hosts_;  // by server, what the jobs that stay leave; empty if nobody needs CPUs or memory
  bool has_needs_ = false;
  std::set<GpuId> claimed_;
  std::set<JobId> stays_;
  PlacePlan plan_;  // without jobs: it shows parts of the cluster to placement policies
};

}  // namespace

void run_groups(const ClusterView& cluster, SchedulingActions& actions, std::span<const GpuGroup> groups,
                std::span<const JobId> running, std::span<const JobId> rest) {
  std::vector<GpuGroup> placed{groups.begin(), groups.end()};
  for (GpuGroup& group : placed)  // the others join a job that must run on certain GPUs
    std::stable_partition(group.jobs.begin(), group.jobs.end(), [&](JobId job) { return cluster.job(job).place >= 0; });
  groups = placed;
  GroupPlaces places{cluster, groups};
  places.keep();
  if (!rest.empty()) places.keep_rest(actions, running, rest);
  for (const JobId job : running)
    if (!places.stays(job)) actions.preempt(job);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const JobId job : groups[g].jobs) {
      if (places.stays(job)) continue;
      if (places.first(g).valid()) {
        const auto held = cluster.gpus_of(places.first(g));
        static_cast<void>(actions.start_at(job, std::vector<GpuId>{held.begin(), held.end()}));
      } else if (!places.start(g, actions)) {
        break;
      }
    }
  }
}

SharedPlaces::SharedPlaces(const ClusterView& cluster, SchedulingActions& actions, std::span<const JobId> jobs)
    : cluster_{cluster} {
  if (!HostRoom::of_ranks(cluster, jobs).any()) return;
  std::vector<JobId> running;
  for (std::size_t g = 0; g < cluster.gpus(); ++g) cluster.jobs_on(GpuId{g}, running);
  std::ranges::sort(running);
  running.erase(std::unique(running.begin(), running.end()), running.end());
  places_.emplace(cluster, actions, running);
}

bool SharedPlaces::could_share(std::span<const JobId> jobs, std::int32_t type) {
  std::set<std::int32_t> certain;  // places on which one of them must run
  for (const JobId job : jobs) certain.insert(cluster_.job(job).place);
  certain.erase(-1);
  if (certain.size() > 1) return false;
  if (!places_) return true;
  std::pair<std::vector<std::int32_t>, std::int32_t> key{{}, type};
  for (const JobId job : jobs) key.first.push_back(shapes_.of(cluster_.job(job)));
  const auto [known, is_new] = known_.try_emplace(key, false);
  if (!is_new) return known->second;
  const std::size_t together = places_->ask(jobs.front(), type, HostRoom::of_ranks(cluster_, jobs)).size();
  for (std::size_t j = 0; j < jobs.size() && together > 0 && !known->second; ++j) {
    const auto [alone, is_first] = servers_when_alone_.try_emplace({key.first[j], type}, 0);
    if (is_first) alone->second = places_->ask(jobs[j], type, HostRoom::of_rank(cluster_.job(jobs[j]))).size();
    known->second = together <= alone->second;
  }
  return known->second;
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
