#include "policies/scheduling/next_places.hpp"

#include <algorithm>
#include <set>

namespace contend {

namespace {

constexpr Time kSoon = Time::nanoseconds(1);  // when the plan sees that jobs have stopped

}  // namespace

NextPlaces::NextPlaces(const ClusterView& cluster, SchedulingActions& actions, std::span<const JobId> stopping)
    : cluster_{cluster}, actions_{actions} {
  plan_.look_at(cluster);
  for (const JobId job : stopping) plan_.run(cluster.job(job), cluster.now() + kSoon, cluster.gpus_of(job));
  const std::set<JobId> stops{stopping.begin(), stopping.end()};
  for (std::size_t s = 0; s < cluster.servers(); ++s) left_.push_back({HostRoom::free_on(cluster, ServerId{s})});
  std::vector<JobId> jobs;
  for (std::size_t g = 0; g < cluster.gpus(); ++g) {
    jobs.clear();
    cluster.jobs_on(GpuId{g}, jobs);
    WholeServer& server = left_[cluster.server_of(GpuId{g}).index()];
    const bool is_free = std::ranges::all_of(jobs, [&](JobId job) { return stops.contains(job); });
    if (is_free && in_service(cluster, GpuId{g}, jobs)) ++server.gpus;
    for (const JobId job : jobs)
      if (stops.contains(job)) server.host.add(HostRoom::of_rank(cluster.job(job)), 1);
  }
}

Spots NextPlaces::ask(JobId job, std::int32_t type, const HostRoom& rank) {
  JobView view = cluster_.job(job);
  view.server_type = -1;
  const ServerRange range = usable_servers(cluster_, view, type);
  const std::size_t per_server = cluster_.gpus() / cluster_.servers();
  PlacePlan::Place room{cluster_.now() + kSoon, {}};
  for (std::size_t s = range.first; s < range.last; ++s) {
    const int ranks = left_[s].host.ranks(rank, left_[s].gpus);
    for (int gpu = 0; gpu < ranks; ++gpu) room.gpus.emplace_back(s * per_server + static_cast<std::size_t>(gpu));
  }
  Spots spots;
  std::vector<GpuId> place;
  if (std::ssize(room.gpus) < view.gpus || !actions_.plan_in(job, plan_.in_place(view, kSoon, room), place))
    return spots;
  for (const GpuId gpu : place) ++spots[cluster_.server_of(gpu).index()];
  return spots;
}

void NextPlaces::take(const Spots& spots, const HostRoom& rank) {
  for (const auto& [server, gpus] : spots) {
    left_[server].gpus -= gpus;
    left_[server].host.add(rank, -gpus);
  }
}

Spots NextPlaces::held_by(JobId job) const {
  Spots spots;
  for (const GpuId gpu : cluster_.gpus_of(job)) ++spots[cluster_.server_of(gpu).index()];
  return spots;
}

}  // namespace contend
