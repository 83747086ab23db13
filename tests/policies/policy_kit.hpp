#pragma once
// This kit makes policies by name with their default parameters, and fakes the views that a policy sees, which tests
// fill in by hand.

#include "tests/policies/random_cluster.hpp"

#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace contend::test {

inline std::unique_ptr<SchedulingPolicy> scheduling(const Choice& choice, const PolicyContext& context = {}) {
  return make_policy(scheduling_policies(), choice, context);
}
inline std::unique_ptr<PlacementPolicy> placement(const Choice& choice, std::uint64_t seed = 1) {
  return make_policy(placement_policies(), choice, {seed, {}, {}});
}
/// `beta` and `eta` are in ns per byte.
inline std::unique_ptr<CommunicationPolicy> communication(const Choice& choice, double beta, double eta) {
  return make_policy(communication_policies(), choice, {0, TimePerByte{beta}, TimePerByte{eta}});
}

/// A cluster at one instant with the free memory and the load of every GPU. Jobs share GPUs as memory allows.
class FakeCluster final : public ClusterView {
 public:
  FakeCluster(std::size_t gpus_per_server, std::vector<std::int64_t> loads)
      : free(loads.size(), 100), load_{std::move(loads)}, gpus_per_server_{gpus_per_server} {}

  [[nodiscard]] Time now() const override { return {}; }
  [[nodiscard]] std::size_t servers() const override { return load_.size() / gpus_per_server_; }
  [[nodiscard]] std::size_t gpus() const override { return load_.size(); }
  [[nodiscard]] ServerId server_of(GpuId gpu) const override { return ServerId{gpu.index() / gpus_per_server_}; }
  [[nodiscard]] Bytes free_memory(GpuId gpu) const override { return Bytes{free[gpu.index()]}; }
  void jobs_on(GpuId, std::vector<JobId>&) const override {}
  [[nodiscard]] std::span<const GpuId> gpus_of(JobId) const override { return {}; }
  [[nodiscard]] JobView job(JobId job) const override {
    JobView view;
    view.id = job;
    return view;
  }
  [[nodiscard]] Time load(GpuId gpu) const override { return Time::nanoseconds(load_[gpu.index()]); }
  [[nodiscard]] int free_gpus() const override { return 0; }
  [[nodiscard]] int free_gpus(ServerId) const override { return 0; }
  [[nodiscard]] ServerId next_server(int, ServerId) const override { return ServerId::none(); }
  [[nodiscard]] int free_share(GpuId) const override { return kWholeGpu; }
  [[nodiscard]] std::int64_t free_milli_cpus(ServerId) const override { return INT64_MAX; }
  [[nodiscard]] Bytes free_host_memory(ServerId) const override { return Bytes{INT64_MAX}; }
  [[nodiscard]] bool fits(GpuId gpu, const JobView& job) const override {
    return free_memory(gpu) >= job.memory_per_gpu;
  }
  [[nodiscard]] ServerRange servers_for(const JobView&) const override {
    return {0, static_cast<std::uint32_t>(servers())};
  }
  [[nodiscard]] bool owns_servers(std::int32_t) const override { return false; }
  [[nodiscard]] int free_gpus_of_vc(std::int32_t) const override { return 0; }
  [[nodiscard]] int gpus_in_service(std::int32_t, std::int32_t) const override { return static_cast<int>(gpus()); }
  [[nodiscard]] int vc_quota(std::int32_t) const override { return INT_MAX; }
  [[nodiscard]] int vc_used(std::int32_t) const override { return 0; }
  [[nodiscard]] int quota_left(std::int32_t) const override { return INT_MAX; }

  std::vector<std::int64_t> free;

 private:
  std::vector<std::int64_t> load_;
  std::size_t gpus_per_server_;
};

/// Returns the indices of the GPUs that a job of `gpus` ranks with 50 bytes each gets, in order; empty if it has to
/// wait.
inline JobView placed_job(int gpus) {
  JobView job;
  job.id = JobId{0U};
  job.gpus = gpus;
  job.memory_per_gpu = Bytes{50};
  return job;
}

inline std::vector<std::uint32_t> place(PlacementPolicy& policy, const FakeCluster& cluster, int gpus) {
  std::vector<GpuId> chosen;
  policy.place(cluster, placed_job(gpus), chosen);
  std::vector<std::uint32_t> indices;
  for (const GpuId gpu : chosen) indices.push_back(gpu.value());
  return indices;
}

/// The transfers on each server, given by the bytes that they have left: of other jobs than the job of may_start(),
/// each of a job of its own, or all of the job `owner`. Each of these jobs sends `later` bytes later in its iteration.
class FakeNetworkView final : public NetworkView {
 public:
  explicit FakeNetworkView(std::vector<std::vector<double>> left, JobId owner = JobId::none(), double later = 0)
      : left_{std::move(left)}, owner_{owner}, later_{later} {}
  [[nodiscard]] std::size_t active_count(ServerId server) const override { return left_[server.index()].size(); }
  void active(ServerId server, std::vector<ActiveTransfer>& transfers) const override {
    JobId other{1U};
    for (const double bytes : left_[server.index()]) {
      transfers.push_back({owner_.valid() ? owner_ : other, bytes, later_});
      other = JobId{other.index() + 1};
    }
  }

 private:
  std::vector<std::vector<double>> left_;
  JobId owner_;
  double later_;
};

/// What a job sends later in its iteration: the one that asks, and each of the others.
struct Later {
  std::int64_t own = 0;
  double others = 0;
};

/// Returns true if a message of `bytes` over all servers in `left` may enter: every server has to accept it.
inline bool may_start(const CommunicationPolicy& policy, std::int64_t bytes, std::vector<std::vector<double>> left,
                      JobId owner = JobId::none(), Later later = {}) {
  std::vector<ServerId> servers;
  for (std::size_t s = 0; s < left.size(); ++s) servers.emplace_back(s);
  TransferRequest request;
  request.job = JobId{0U};
  request.bytes = Bytes{bytes};
  request.later = Bytes{later.own};
  request.servers = servers;
  const FakeNetworkView network{std::move(left), owner, later.others};
  for (const ServerId server : servers) {
    if (!policy.may_start(request, server, network)) return false;
  }
  return true;
}

}  // namespace contend::test
