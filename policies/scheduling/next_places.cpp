#include "policies/scheduling/next_places.hpp"

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
  left_ = servers_without(cluster, [&](JobId job) { return stops.contains(job); });
}

std::vector<GpuId> NextPlaces::place(JobId job, std::int32_t type, const HostRoom& rank) {
  JobView view = cluster_.job(job);
  view.server_type = -1;
  const ServerRange range = usable_servers(cluster_, view, type);
  const std::size_t per_server = cluster_.gpus() / cluster_.servers();
  PlacePlan::Place room{cluster_.now() + kSoon, {}};
  for (std::size_t s = range.first; s < range.last; ++s) {
    const int ranks = left_[s].host.ranks(rank, left_[s].gpus);
    for (int gpu = 0; gpu < ranks; ++gpu) room.gpus.emplace_back(s * per_server + static_cast<std::size_t>(gpu));
  }
  std::vector<GpuId> place;
  if (std::ssize(room.gpus) < view.gpus) return place;
  const ServerSet servers{cluster_.servers(), range};
  const ClusterView& then = view.place < 0 ? plan_.in_place(view, kSoon, room) : plan_.at(view, room.start, servers);
  static_cast<void>(actions_.plan_in(job, then, place));
  return place;
}

void NextPlaces::take(const Spots& spots, const HostRoom& rank) {
  for (const auto& [server, gpus] : spots) {
    left_[server].gpus -= gpus;
    left_[server].host.add(rank, -gpus);
  }
}

}  // namespace contend
