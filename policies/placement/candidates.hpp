#pragma once

#include "sim/ports.hpp"

#include <vector>

namespace contend {

/// Fills `candidates` with the GPUs that have room for one rank of the job, in index order.
inline void candidates_with_memory(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& candidates) {
  candidates.clear();
  for (std::size_t g = 0; g < cluster.gpus(); ++g) {
    if (cluster.free_memory(GpuId{g}) >= job.memory_per_gpu) candidates.emplace_back(g);
  }
}

}  // namespace contend
