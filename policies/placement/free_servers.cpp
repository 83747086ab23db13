#include "policies/placement/free_servers.hpp"

#include "policies/placement/candidates.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace contend {

FreeServers::FreeServers(const ClusterView& cluster, const JobView& job)
    : cluster_{cluster},
      job_{job},
      range_{cluster.servers_for(job)},
      per_server_{cluster.gpus_per_server(job.server_type)},
      stride_{cluster.gpus() / cluster.servers()} {
  job_.gpu_share = kWholeGpu;
}

int FreeServers::room(ServerId server) const {
  if (cluster_.gpu_memory(server) < job_.memory_per_gpu) return 0;
  return static_cast<int>(std::min<std::int64_t>(cluster_.free_gpus(server), cluster_.ranks_by_host(server, job_)));
}

ServerId FreeServers::next(int free, int needed, ServerId from) const {
  for (ServerId server = cluster_.next_server(free, from); server.valid() && range_.contains(server);
       server = cluster_.next_server(free, after(server))) {
    if (room(server) >= needed && !std::binary_search(taken_.begin(), taken_.end(), server)) return server;
  }
  return ServerId::none();
}

ServerId FreeServers::first_from(int needed, ServerId from) const {
  ServerId best = ServerId::none();  // larger than every id
  for (int free = needed; free <= per_server_; ++free) best = std::min(best, next(free, needed, from));
  return best;
}

ServerId FreeServers::fullest(int needed) const {
  for (int free = needed; free <= per_server_; ++free) {
    if (const ServerId server = next(free, needed, begin()); server.valid()) return server;
  }
  return ServerId::none();
}

ServerId FreeServers::emptiest(int needed) const {
  for (int free = per_server_; free >= needed; --free) {
    if (const ServerId server = next(free, needed, begin()); server.valid()) return server;
  }
  return ServerId::none();
}

void FreeServers::emptiest_first(int servers, int gpus, std::vector<ServerId>& found) const {
  for (int free = per_server_; free > 0; --free) {
    for (ServerId server = next(free, 1, begin()); server.valid(); server = next(free, 1, after(server))) {
      if (servers <= 0 || gpus <= 0) return;
      found.push_back(server);
      --servers;
      gpus -= room(server);
    }
  }
}

void FreeServers::take(ServerId server, int count, std::vector<GpuId>& chosen) {
  const std::size_t first = server.index() * stride_;
  for (std::size_t g = first; g < first + static_cast<std::size_t>(per_server_) && count > 0; ++g) {
    if (!cluster_.fits(GpuId{g}, job_)) continue;
    chosen.emplace_back(g);
    --count;
  }
  CONTEND_CHECK(count == 0, "the server has room for what is taken");
  taken_.insert(std::upper_bound(taken_.begin(), taken_.end(), server), server);
}

void FreeServers::take_groups(ServerId server, int count, int together, std::vector<GpuId>& chosen) {
  if (together == 1) return take(server, count, chosen);
  const std::size_t first = server.index() * stride_, before = chosen.size();
  std::vector<GpuId> others;
  for (int begin = 0; begin < per_server_; begin += together) {
    std::vector<GpuId> free;
    for (int g = begin; g < std::min(begin + together, per_server_); ++g) {
      const GpuId gpu{first + static_cast<std::size_t>(g)};
      if (cluster_.fits(gpu, job_)) free.push_back(gpu);
    }
    const bool is_group = std::ssize(free) == together && chosen.size() < before + static_cast<std::size_t>(count);
    std::vector<GpuId>& to = is_group ? chosen : others;
    to.insert(to.end(), free.begin(), free.end());
  }
  for (std::size_t i = 0; chosen.size() < before + static_cast<std::size_t>(count); ++i) {
    CONTEND_CHECK(i < others.size(), "the server has room for what is taken");
    chosen.push_back(others[i]);
  }
  taken_.insert(std::upper_bound(taken_.begin(), taken_.end(), server), server);
}

bool FreeServers::take_whole(int count, std::vector<GpuId>& chosen) {
  std::vector<ServerId> found;
  for (ServerId from = begin(); static_cast<int>(found.size()) < count; from = after(found.back())) {
    const ServerId server = next(per_server_, per_server_, from);
    if (!server.valid()) return false;
    found.push_back(server);
  }
  for (const ServerId server : found) take(server, per_server_, chosen);
  return true;
}

bool asks_for_share(const JobView& job) {
  return job.gpu_share > 0 && job.gpu_share < kWholeGpu;
}

void place_share(const ClusterView& cluster, const JobView& job, bool spread, std::vector<GpuId>& chosen) {
  const auto needed = static_cast<std::size_t>(job.gpus);
  candidates_with_room(cluster, job, chosen);
  if (chosen.size() < needed) return chosen.clear();
  const auto rank = [&](GpuId gpu) {
    const int share = cluster.free_share(gpu);
    return std::tuple{spread ? -share : share, gpu};
  };
  std::partial_sort(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(needed), chosen.end(),
                    [&](GpuId a, GpuId b) { return rank(a) < rank(b); });
  chosen.resize(needed);
}

}  // namespace contend
