#pragma once
// PlacedCluster is a cluster at one instant for tests of placement policies. It uses the engine's own index of free
// GPUs; tests put jobs on it by hand.

#include "sim/cluster.hpp"
#include "sim/job.hpp"
#include "sim/random_stream.hpp"
#include "tests/policies/policy_kit.hpp"

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace contend::test {

class PlacedCluster final : public ClusterView {
 public:
  explicit PlacedCluster(const ClusterSpec& spec) : spec_{spec}, capacity_{spec} {}

  /// Makes a job hold these GPUs from now on and returns its id.
  JobId hold(const std::vector<GpuId>& gpus, const JobView& job) {
    for (const GpuId gpu : gpus) capacity_.take(gpu, RankDemand{job});
    const JobId id =
        job.id.valid() ? job.id : JobId{std::uint32_t{1'000'000} + static_cast<std::uint32_t>(held_.size())};
    held_[id] = {gpus, job};
    return id;
  }
  void end(JobId id) {
    for (const GpuId gpu : held_.at(id).first) capacity_.give_back(gpu, RankDemand{held_.at(id).second});
    held_.erase(id);
  }
  /// Leaves `free[s]` GPUs of server s free, the GPUs of highest index.
  void leave_free(const std::vector<int>& free) {
    for (std::size_t s = 0; s < free.size(); ++s) {
      std::vector<GpuId> gpus;
      const auto per_server = static_cast<std::size_t>(spec_.gpus_per_server);
      for (std::size_t g = 0; g + static_cast<std::size_t>(free[s]) < per_server; ++g) {
        gpus.emplace_back(s * per_server + g);
      }
      JobView job;
      job.gpu_share = kWholeGpu;
      if (!gpus.empty()) hold(gpus, job);
    }
  }

  [[nodiscard]] Time now() const override { return time; }
  [[nodiscard]] std::size_t servers() const override { return static_cast<std::size_t>(spec_.servers); }
  [[nodiscard]] std::size_t gpus() const override { return capacity_.gpus(); }
  [[nodiscard]] ServerId server_of(GpuId gpu) const override { return capacity_.server_of(gpu); }
  [[nodiscard]] Bytes free_memory(GpuId gpu) const override { return capacity_.free_memory(gpu); }
  void jobs_on(GpuId, std::vector<JobId>&) const override {}
  [[nodiscard]] JobView job(JobId job) const override { return held_.at(job).second; }
  [[nodiscard]] std::span<const GpuId> gpus_of(JobId job) const override {
    const auto found = held_.find(job);
    return found == held_.end() ? std::span<const GpuId>{} : found->second.first;
  }
  [[nodiscard]] Time load(GpuId) const override { return {}; }
  [[nodiscard]] int free_gpus() const override { return capacity_.free_gpus(); }
  [[nodiscard]] int free_gpus(ServerId server) const override { return capacity_.free_gpus(server); }
  [[nodiscard]] ServerId next_server(int free, ServerId from) const override {
    return capacity_.next_server(free, from);
  }
  [[nodiscard]] int free_share(GpuId gpu) const override { return capacity_.free_share(gpu); }
  [[nodiscard]] std::int64_t free_milli_cpus(ServerId server) const override {
    return spec_.milli_cpus > 0 ? capacity_.free_milli_cpus(server) : INT64_MAX;
  }
  [[nodiscard]] Bytes free_host_memory(ServerId server) const override {
    return spec_.host_memory > Bytes{} ? capacity_.free_host_memory(server) : Bytes{INT64_MAX};
  }
  [[nodiscard]] bool fits(GpuId gpu, const JobView& job) const override { return capacity_.fits(gpu, RankDemand{job}); }
  [[nodiscard]] ServerRange servers_for(const JobView& job) const override { return capacity_.servers_of_vc(job.vc); }
  [[nodiscard]] bool owns_servers(std::int32_t vc) const override { return capacity_.owns_servers(vc); }
  [[nodiscard]] int free_gpus_of_vc(std::int32_t vc) const override { return capacity_.free_gpus_of_vc(vc); }
  [[nodiscard]] int gpus_in_service(std::int32_t vc, std::int32_t type) const override {
    return capacity_.gpus_in_service(vc, spec_.types.empty() ? -1 : type);
  }
  [[nodiscard]] int vc_quota(std::int32_t vc) const override { return capacity_.vc_quota(vc); }
  [[nodiscard]] int vc_used(std::int32_t vc) const override { return capacity_.vc_used(vc); }
  [[nodiscard]] int quota_left(std::int32_t vc) const override { return capacity_.quota_left(vc); }

  Time time;

 private:
  ClusterSpec spec_;
  Capacity capacity_;
  std::map<JobId, std::pair<std::vector<GpuId>, JobView>> held_;
};

inline ClusterSpec cluster_of(int servers, int gpus_per_server) {
  ClusterSpec spec;
  spec.servers = servers;
  spec.gpus_per_server = gpus_per_server;
  spec.gpu_memory = Bytes{100};
  return spec;
}

inline JobView gang(int gpus, std::uint32_t id = 0) {
  JobView job;
  job.id = JobId{id};
  job.gpus = gpus;
  job.gpu_share = kWholeGpu;
  job.timed = true;
  return job;
}

/// Returns the GPUs on each server in the order of the ranks: "2:4 0:1" means four on server 2, then one on server 0.
/// The result is "-" if the job has to wait. Ids of one server that do not ascend start a new entry.
inline std::string placed(PlacementPolicy& policy, const ClusterView& cluster, const JobView& job) {
  std::vector<GpuId> chosen;
  policy.place(cluster, job, chosen);
  std::string text;
  for (std::size_t i = 0; i < chosen.size();) {
    std::size_t end = i + 1;
    const ServerId server = cluster.server_of(chosen[i]);
    while (end < chosen.size() && cluster.server_of(chosen[end]) == server && chosen[end] > chosen[end - 1]) ++end;
    text += (text.empty() ? "" : " ") + std::to_string(server.value()) + ":" + std::to_string(end - i);
    i = end;
  }
  return text.empty() ? "-" : text;
}

}  // namespace contend::test
