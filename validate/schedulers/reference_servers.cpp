#include "validate/schedulers/reference_servers.hpp"

#include <algorithm>
#include <numeric>

namespace contend {

ReferenceServers::ReferenceServers(const ReferenceCluster& cluster)
    : cluster_{cluster}, free_(static_cast<std::size_t>(cluster.servers), cluster.gpus_per_server) {}

int ReferenceServers::free() const {
  return std::accumulate(free_.begin(), free_.end(), 0);
}

std::optional<ReferencePlace> ReferenceServers::take(int gpus) {
  std::optional<ReferencePlace> place = find(gpus);
  if (place) {
    for (const auto& [server, count] : *place) free_[server] -= count;
  }
  return place;
}

void ReferenceServers::give_back(const ReferencePlace& place) {
  for (const auto& [server, count] : place) free_[server] += count;
}

std::optional<ReferencePlace> ReferenceServers::find(int gpus) const {
  if (cluster_.placement == ReferencePlacement::count) return any(gpus);
  return gpus <= cluster_.gpus_per_server ? one_server(gpus) : several_servers(gpus);
}

std::optional<ReferencePlace> ReferenceServers::any(int gpus) const {
  if (free() < gpus) return std::nullopt;
  ReferencePlace place;
  for (std::size_t server = 0; server < free_.size() && gpus > 0; ++server) {
    const int count = std::min(gpus, free_[server]);
    if (count > 0) place.emplace_back(server, count);
    gpus -= count;
  }
  return place;
}

std::optional<ReferencePlace> ReferenceServers::one_server(int gpus) const {
  std::optional<std::size_t> best;
  for (std::size_t server = 0; server < free_.size(); ++server) {
    if (free_[server] < gpus) continue;
    const bool fuller = best && free_[server] < free_[*best];
    const bool emptier = best && free_[server] > free_[*best];
    const bool better = (cluster_.placement == ReferencePlacement::consolidated && fuller) ||
                        (cluster_.placement == ReferencePlacement::spread && emptier);
    if (!best || better) best = server;
  }
  if (!best) return std::nullopt;
  return ReferencePlace{{*best, gpus}};
}

std::optional<ReferencePlace> ReferenceServers::several_servers(int gpus) const {
  // Tiresias goes through the servers by id, the others take those with most free GPUs first.
  std::vector<std::size_t> order(free_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (cluster_.placement != ReferencePlacement::yarn) {
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return free_[a] > free_[b]; });
  }
  ReferencePlace place;
  std::vector<bool> used(free_.size(), false);
  while (gpus > 0) {
    const int part = std::min(gpus, cluster_.gpus_per_server);
    const auto server = std::ranges::find_if(order, [&](std::size_t s) { return !used[s] && free_[s] >= part; });
    if (server == order.end()) return std::nullopt;
    used[*server] = true;
    place.emplace_back(*server, part);
    gpus -= part;
  }
  return place;
}

}  // namespace contend
