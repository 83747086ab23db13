#pragma once

#include "policies/placement/free_servers.hpp"

#include <vector>

namespace contend {

/// Returns a server with room for `needed` GPUs; ServerId::none() if there is none.
using ServerRule = ServerId (FreeServers::*)(int needed) const;

/// Places a gang on whole servers and one more server for the remainder. `alone` chooses the server of a job that needs
/// no whole server, `remainder` the server for the remainder of a larger job. Leaves `chosen` empty if the job has to
/// wait.
void place_gang(const ClusterView& cluster, const JobView& job, ServerRule alone, ServerRule remainder,
                std::vector<GpuId>& chosen);

}  // namespace contend
