#pragma once
// CPUs and memory of servers, for policies that choose servers themselves.

#include "sim/cluster_view.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace contend {

/// CPUs and memory of a server that are there, or that jobs need.
struct HostRoom {
  std::int64_t milli_cpus = 0;   ///< thousandths of CPUs
  std::int64_t host_memory = 0;  ///< bytes

  /// What a rank of the job needs.
  [[nodiscard]] static HostRoom of_rank(const JobView& job) { return {job.milli_cpus, job.host_memory.count()}; }
  /// What no job holds on the server. Far beyond any demand where the cluster doesn't count it.
  [[nodiscard]] static HostRoom free_on(const ClusterView& cluster, ServerId server) {
    return {cluster.free_milli_cpus(server), cluster.free_host_memory(server).count()};
  }

  /// What a rank of each of these jobs needs together on the same GPU.
  [[nodiscard]] static HostRoom of_ranks(const ClusterView& cluster, std::span<const JobId> jobs) {
    HostRoom together;
    for (const JobId job : jobs) together.add(of_rank(cluster.job(job)), 1);
    return together;
  }
  [[nodiscard]] bool any() const { return milli_cpus > 0 || host_memory > 0; }

  /// Adds what so many ranks need, or takes it away where `ranks` is negative.
  void add(const HostRoom& rank, std::int64_t ranks) {
    milli_cpus += rank.milli_cpus * ranks;
    host_memory += rank.host_memory * ranks;
  }
  /// The ranks for which this room suffices, at most `most`.
  [[nodiscard]] int ranks(const HostRoom& rank, int most) const {
    std::int64_t ranks = most;
    if (rank.milli_cpus > 0) ranks = std::min(ranks, milli_cpus / rank.milli_cpus);
    if (rank.host_memory > 0) ranks = std::min(ranks, host_memory / rank.host_memory);
    return static_cast<int>(std::max(std::int64_t{0}, ranks));
  }
  /// The part of `room` that this needs, of CPUs or of memory, whichever is larger.
  [[nodiscard]] double part_of(const HostRoom& room) const {
    const auto part = [](std::int64_t needed, std::int64_t there) {
      return needed > 0 ? static_cast<double>(needed) / static_cast<double>(std::max(std::int64_t{1}, there)) : 0;
    };
    return std::max(part(milli_cpus, room.milli_cpus), part(host_memory, room.host_memory));
  }
};

/// What a server has while no job runs there, or only jobs that stay.
struct WholeServer {
  HostRoom host;
  int gpus = 0;  ///< in service
};

/// The servers of that type, -1: of any, that the job may use, wherever it runs now.
[[nodiscard]] inline ServerRange usable_servers(const ClusterView& cluster, JobView job, std::int32_t type) {
  job.server_type = -1;
  const ServerRange usable = cluster.servers_for(job);
  if (type < 0) return usable;
  const ServerRange of_type = cluster.servers_of_type(type);
  const std::uint32_t first = std::max(usable.first, of_type.first);
  return {first, std::max(first, std::min(usable.last, of_type.last))};
}

/// True if the GPU is in service: a job holds it, or nothing keeps jobs from it.
[[nodiscard]] inline bool in_service(const ClusterView& cluster, GpuId gpu, std::span<const JobId> on_gpu) {
  return !on_gpu.empty() || cluster.free_share(gpu) == kWholeGpu;
}

/// GPUs by server: so many of each. Which GPUs of a server is open.
using Spots = std::map<std::size_t, int>;

[[nodiscard]] inline Spots spots_of(const ClusterView& cluster, std::span<const GpuId> gpus) {
  Spots spots;
  for (const GpuId gpu : gpus) ++spots[cluster.server_of(gpu).index()];
  return spots;
}

/// All servers, by their numbers, as they are without the jobs of which `stops` says so.
template <class Stops>
[[nodiscard]] std::vector<WholeServer> servers_without(const ClusterView& cluster, const Stops& stops) {
  std::vector<WholeServer> servers;
  for (std::size_t s = 0; s < cluster.servers(); ++s) servers.push_back({HostRoom::free_on(cluster, ServerId{s})});
  std::vector<JobId> jobs;
  for (std::size_t g = 0; g < cluster.gpus(); ++g) {
    jobs.clear();
    cluster.jobs_on(GpuId{g}, jobs);
    WholeServer& server = servers[cluster.server_of(GpuId{g}).index()];
    if (std::ranges::all_of(jobs, stops) && in_service(cluster, GpuId{g}, jobs)) ++server.gpus;
    for (const JobId job : jobs)
      if (stops(job)) server.host.add(HostRoom::of_rank(cluster.job(job)), 1);
  }
  return servers;
}
/// All servers, by their numbers, as they are while no job runs.
[[nodiscard]] inline std::vector<WholeServer> whole_servers(const ClusterView& cluster) {
  return servers_without(cluster, [](JobId) { return true; });
}

}  // namespace contend
