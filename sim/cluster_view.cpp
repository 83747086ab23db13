#include "sim/cluster_view.hpp"

#include <algorithm>
#include <utility>

namespace contend {

namespace {

/// Sorts the values by load, then by id, as far as `count`, and appends the ids.
template <class Id>
void append_first(std::vector<std::pair<Time, Id>>& by_load, std::size_t count, std::vector<Id>& ids) {
  const auto end = by_load.begin() + static_cast<std::ptrdiff_t>(std::min(count, by_load.size()));
  std::partial_sort(by_load.begin(), end, by_load.end());
  for (auto at = by_load.begin(); at != end; ++at) ids.push_back(at->second);
}

}  // namespace

GpuId ClusterView::next_gpu(const JobView& job, GpuId from) const {
  const ServerRange usable = servers_for(job);
  const std::size_t per_server = gpus() / servers();
  for (std::size_t g = std::max(from.index(), usable.first * per_server); g < usable.last * per_server; ++g) {
    if (fits(GpuId{g}, job)) return GpuId{g};
  }
  return GpuId::none();
}

void ClusterView::least_loaded(const JobView& job, std::size_t count, std::vector<GpuId>& chosen) const {
  const ServerRange usable = servers_for(job);
  std::vector<GpuId> candidates;
  for (std::size_t s = usable.first; s < usable.last; ++s) gpus_with_room(ServerId{s}, job, candidates);
  std::vector<std::pair<Time, GpuId>> by_load;
  for (const GpuId gpu : candidates) by_load.emplace_back(load(gpu), gpu);
  append_first(by_load, count, chosen);
}

void ClusterView::least_loaded_servers(const JobView& job, std::size_t ranks, std::vector<ServerId>& chosen) const {
  const ServerRange usable = servers_for(job);
  std::vector<std::pair<Time, ServerId>> by_load;
  std::vector<GpuId> candidates;
  for (std::size_t s = usable.first; s < usable.last; ++s) {
    candidates.clear();
    gpus_with_room(ServerId{s}, job, candidates);
    if (!candidates.empty()) by_load.emplace_back(load_of_server(ServerId{s}), ServerId{s});
  }
  std::sort(by_load.begin(), by_load.end());
  candidates.clear();
  for (auto at = by_load.begin(); at != by_load.end() && candidates.size() < ranks; ++at) {
    gpus_with_room(at->second, job, candidates);
    chosen.push_back(at->second);
  }
}

void ClusterView::gpus_with_room(ServerId server, const JobView& job, std::vector<GpuId>& found) const {
  const std::size_t per_server = gpus() / servers();
  std::int64_t ranks = ranks_by_host(server, job);
  for (std::size_t g = server.index() * per_server; g < (server.index() + 1) * per_server && ranks > 0; ++g) {
    if (!fits(GpuId{g}, job)) continue;
    found.emplace_back(g);
    --ranks;
  }
}

Time ClusterView::load_of_server(ServerId server) const {
  const std::size_t per_server = gpus() / servers();
  Time sum;
  for (std::size_t g = server.index() * per_server; g < (server.index() + 1) * per_server; ++g) sum += load(GpuId{g});
  return sum;
}

}  // namespace contend
