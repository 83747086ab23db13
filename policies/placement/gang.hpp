#pragma once

#include "policies/placement/free_servers.hpp"

#include <vector>

namespace contend {

/// Chooses a server with room for so many GPUs.
using ServerRule = ServerId (FreeServers::*)(int needed) const;

/// Whole servers first, then one more for what is left: `alone` chooses the server of a job that needs no whole one,
/// `remainder` that of the rest of a larger job.
void place_gang(const ClusterView& cluster, const JobView& job, ServerRule alone, ServerRule remainder,
                std::vector<GpuId>& chosen);

}  // namespace contend
