#pragma once

#include "sim/ports.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend {

/// Fills `candidates` with the first `count` GPUs that have room for one rank of the job, in index order; with fewer if
/// there are fewer. It takes no more GPUs of a server than its CPUs and host memory allow ranks.
inline void candidates_with_room(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& candidates,
                                 std::size_t count = SIZE_MAX) {
  candidates.clear();
  const std::size_t per_server = cluster.gpus() / cluster.servers();
  GpuId gpu = cluster.next_gpu(job, GpuId{0U});
  while (gpu.valid() && candidates.size() < count) {
    const ServerId server = cluster.server_of(gpu);
    cluster.gpus_with_room(server, job, candidates);
    gpu = cluster.next_gpu(job, GpuId{(server.index() + 1) * per_server});
  }
  if (candidates.size() > count) candidates.resize(count);
}

}  // namespace contend
