#include "policies/scheduling/room_left.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

namespace contend {

RoomLeft::RoomLeft(const ClusterView& cluster, std::vector<int> gpus, std::span<const JobView> jobs)
    : cluster_{cluster}, gpus_{std::move(gpus)} {
  HostRoom most;  // that the jobs on a GPU could need
  for (const JobView& job : jobs) {
    const HostRoom rank = HostRoom::of_rank(job);
    most.milli_cpus = std::max(most.milli_cpus, rank.milli_cpus * cluster.most_on_gpu());
    most.host_memory = std::max(most.host_memory, rank.host_memory * cluster.most_on_gpu());
  }
  if (!most.any()) return;
  servers_ = whole_servers(cluster);
  const auto suffices = [&](const WholeServer& server) { return server.host.ranks(most, server.gpus) == server.gpus; };
  if (std::ranges::all_of(servers_, suffices)) servers_.clear();
}

std::vector<RoomLeft::Part> RoomLeft::held_by(JobId job) const {
  std::vector<Part> parts;
  for (const auto& [server, ranks] : spots_of(cluster_, cluster_.gpus_of(job))) parts.push_back({server, ranks});
  return parts;
}

std::vector<RoomLeft::Part> RoomLeft::parts_for(const ServerRange& range, int gpus, const HostRoom& need) const {
  std::vector<Part> parts;
  std::int64_t all = 0;
  for (std::uint32_t s = range.first; s < range.last; ++s) {
    const int ranks = std::min(gpus, servers_[s].host.ranks(need, servers_[s].gpus));
    if (ranks == 0) continue;
    const HostRoom free = HostRoom::free_on(cluster_, ServerId{s});
    parts.push_back({s, ranks, std::min(ranks, free.ranks(need, cluster_.free_gpus(ServerId{s})))});
    all += ranks;
  }
  if (all < gpus) return {};
  std::ranges::stable_sort(parts, {}, [&](const Part& part) {
    const int left = part.ranks < gpus ? -part.ranks : servers_[part.server].gpus;
    return std::tuple{part.ranks < gpus, part.free_now < part.ranks, left};
  });
  std::size_t used = 0;
  for (int left = gpus; left > 0; ++used) {
    parts[used].ranks = std::min(parts[used].ranks, left);
    left -= parts[used].ranks;
  }
  parts.resize(used);
  return parts;
}

bool RoomLeft::take(std::size_t type, std::span<const JobView> jobs) {
  const JobView& first = jobs.front();
  if (first.gpus > gpus_[type]) return false;
  if (!servers_.empty()) {
    HostRoom need;
    for (const JobView& job : jobs) need.add(HostRoom::of_rank(job), 1);
    const ServerRange range = usable_servers(cluster_, first, static_cast<std::int32_t>(type));
    const auto has_room = [&](const Part& part) {
      return servers_[part.server].host.ranks(need, servers_[part.server].gpus) >= part.ranks;
    };
    std::vector<Part> parts;
    for (std::size_t j = 0; j < jobs.size() && parts.empty(); ++j) {
      std::vector<Part> held = held_by(jobs[j].id);
      if (held.empty() || !range.contains(ServerId{held.front().server})) continue;
      if (std::ranges::all_of(held, has_room)) parts = std::move(held);
      if (parts.empty() && jobs.size() == 1) return false;
    }
    // Which servers jobs without such needs get is open.
    if (parts.empty() && need.any()) parts = parts_for(range, first.gpus, need);
    if (parts.empty() && need.any()) return false;
    for (const Part& part : parts) {
      servers_[part.server].host.add(need, -part.ranks);
      servers_[part.server].gpus -= part.ranks;
    }
  }
  gpus_[type] -= first.gpus;
  return true;
}

bool RoomLeft::take(std::size_t type, std::span<const JobView> jobs, QuotasLeft& quotas) {
  QuotasLeft then = quotas;
  std::vector<std::int32_t> vcs;  // each job counts for its quota
  for (const JobView& job : jobs) vcs.push_back(job.vc);
  if (!then.take(vcs, jobs.front().gpus) || !take(type, jobs)) return false;
  quotas = std::move(then);
  return true;
}

}  // namespace contend
