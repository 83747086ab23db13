#include "policies/scheduling/demand.hpp"

#include <algorithm>
#include <climits>

namespace contend {

std::uint32_t Pools::of(const ClusterView& cluster, const JobView& job) {
  const ServerRange servers = cluster.servers_for(job);
  const std::int32_t vc = cluster.quota_left(job.vc) == INT_MAX ? -1 : job.vc;
  const auto next = static_cast<std::uint32_t>(numbers_.size());
  return numbers_.try_emplace({servers.first, servers.last, vc}, next).first->second;
}

std::int64_t Pools::capacity(const ClusterView& cluster, const JobView& job) {
  std::int64_t gpus = cluster.gpus_on(cluster.servers_for(job));
  if (cluster.quota_left(job.vc) != INT_MAX) gpus = std::min<std::int64_t>(gpus, cluster.vc_quota(job.vc));
  return gpus * kWholeGpu;
}

}  // namespace contend
