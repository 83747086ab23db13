#include "sim/placement_check.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/core.h>

namespace contend {

std::string why_illegal(const ClusterView& cluster, const JobView& job, std::span<const GpuId> gpus) {
  if (gpus.size() != static_cast<std::size_t>(job.gpus))
    return fmt::format("asked for {} GPUs and was given {}", job.gpus, gpus.size());
  std::vector<GpuId> sorted{gpus.begin(), gpus.end()};
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return "was given a GPU twice";
  const ServerRange servers = cluster.servers_for(job);
  ServerId server;
  std::int64_t ranks = 0;  // on the current server
  for (const GpuId gpu : sorted) {
    if (gpu.index() >= cluster.gpus()) return "was given a GPU that does not exist";
    const ServerId its = cluster.server_of(gpu);
    ranks = its == server ? ranks + 1 : 1;
    server = its;
    if (const Bytes free = cluster.free_memory(gpu); free >= Bytes{} && free < job.memory_per_gpu)
      return fmt::format("does not fit into the memory of GPU {} of server {}", gpu.value(), server.value());
    if (!cluster.fits(gpu, job))
      return fmt::format("was given GPU {} of server {}, which other jobs hold", gpu.value(), server.value());
    if (job.server_type >= 0 && !cluster.servers_of_type(job.server_type).contains(server))
      return "was given servers of two types";
    if (!servers.contains(server)) return "was given a server of another virtual cluster";
    if (ranks > cluster.ranks_by_host(server, job))
      return fmt::format("asks server {} for more CPUs or memory than it has left", server.value());
  }
  return {};
}

}  // namespace contend
