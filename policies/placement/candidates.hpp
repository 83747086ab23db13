#pragma once

#include "sim/ports.hpp"

#include <vector>

namespace contend {

/// Fills `candidates` with the GPUs that have room for one rank of the job, in index order. It takes no more GPUs of a
/// server than its CPUs and host memory allow ranks.
inline void candidates_with_room(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& candidates) {
  candidates.clear();
  const ServerRange servers = cluster.servers_for(job);
  const std::size_t per_server = cluster.gpus() / cluster.servers();
  for (std::size_t s = servers.first; s < servers.last; ++s) {
    std::int64_t ranks = cluster.ranks_by_host(ServerId{s}, job);
    for (std::size_t g = s * per_server; g < (s + 1) * per_server && ranks > 0; ++g) {
      if (!cluster.fits(GpuId{g}, job)) continue;
      candidates.emplace_back(g);
      --ranks;
    }
  }
}

}  // namespace contend
