#pragma once
// Policies that plan with numbers of GPUs count the demand of jobs in thousandths of a GPU, separately for each pool.

#include "sim/ports.hpp"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace contend {

/// Returns the number of GPUs that must be wholly free for the job to start; 0 if the job can share GPUs with others.
[[nodiscard]] inline int demand_of(const JobView& job) {
  return job.gpu_share == kWholeGpu ? job.gpus : 0;
}

/// Returns the thousandths of GPUs that the job needs. A job that names no share (gpu_share 0) counts with whole GPUs.
[[nodiscard]] inline std::int64_t width_of(const JobView& job) {
  return static_cast<std::int64_t>(job.gpus) * (job.gpu_share == 0 ? kWholeGpu : job.gpu_share);
}

/// The most GPUs that the jobs of a virtual cluster may hold at once; INT_MAX if it has no quota or may exceed it.
[[nodiscard]] inline int fixed_quota(const ClusterView& cluster, std::int32_t vc) {
  return cluster.quota_left(vc) == INT_MAX ? INT_MAX : cluster.vc_quota(vc);
}

/// What is left of the quotas while a policy chooses among running and waiting jobs.
class QuotasLeft {
 public:
  explicit QuotasLeft(const ClusterView& cluster) : cluster_{&cluster} {}
  /// Takes so many GPUs for a job of each of these virtual clusters. False, and nothing is taken, if less is left.
  bool take(std::span<const std::int32_t> vcs, int gpus) {
    for (const std::int32_t vc : vcs)
      if (std::ranges::count(vcs, vc) * gpus > left(vc)) return false;
    for (const std::int32_t vc : vcs) left(vc) -= gpus;
    return true;
  }
  bool take(std::int32_t vc, int gpus) { return take(std::span{&vc, 1}, gpus); }

 private:
  int& left(std::int32_t vc) { return left_.try_emplace(vc, fixed_quota(*cluster_, vc)).first->second; }

  const ClusterView* cluster_;
  std::map<std::int32_t, int> left_;  // by virtual cluster
};

/// GPUs that some jobs have to themselves when GPUs are divided, as a number: time on other GPUs may make it up.
struct GpuPart {
  std::vector<std::size_t> jobs{};  ///< indices, rising
  std::vector<double> gpus{};       ///< by type; of all parts together, the GPUs in service
  std::vector<double> most{};       ///< by type: that one of the jobs can hold at once
};

/// Divides the GPUs in service among jobs that may use the same servers, so that no quota is exceeded. All jobs would
/// have an equal part of the GPUs that they want. Where that is more than the quota of a virtual cluster, and its jobs
/// want more than its quota, these have as many GPUs as the quota, and the others the rest (max-min fairness with
/// limits: Bertsekas, Gallager, Data Networks, 2nd edition, section 6.5.2). So without such a quota all jobs are in one
/// part. GPUs of types on which none of the jobs may run are nobody's. `jobs` is not empty.
[[nodiscard]] std::vector<GpuPart> parts_within_quotas(const ClusterView& cluster, std::span<const JobView> jobs);

/// The types of servers on which a job may run alone, by type; all of them if only several types together have enough
/// GPUs for it.
[[nodiscard]] std::vector<bool> types_for(const ClusterView& cluster, const JobView& job);

/// Numbers the different demands of jobs, from 0 on. If the placement policy refuses a job, it refuses the others with
/// the same number at the same instant, where PlacementPolicy::refuses_alike holds.
class Shapes {
 public:
  [[nodiscard]] std::int32_t of(const JobView& job) {
    const Shape shape{job.vc,
                      job.gpu_type,
                      job.gpus,
                      job.gpu_share,
                      job.memory_per_gpu.count(),
                      job.milli_cpus,
                      job.host_memory.count(),
                      job.place,
                      job.level,
                      job.pace};
    return numbers_.try_emplace(shape, static_cast<std::int32_t>(numbers_.size())).first->second;
  }

 private:
  using Shape = std::tuple<std::int32_t, std::int32_t, int, std::int32_t, std::int64_t, std::int32_t, std::int64_t,
                           std::int32_t, std::int32_t, std::int32_t>;
  std::map<Shape, std::int32_t> numbers_;
};

/// Divides jobs into pools. The jobs of a pool compete for GPUs: they may use the same servers and share one quota.
class Pools {
 public:
  /// Returns the index of the job's pool. The first job of a pool gets the next unused index.
  [[nodiscard]] std::uint32_t of(const ClusterView& cluster, const JobView& job);
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }
  /// The job is there from now on, in this pool of its own.
  void enters(const ClusterView& cluster, const JobView& job, std::uint32_t pool);
  /// The job is there no longer. Does nothing for a job that isn't there.
  void leaves(JobId job);
  /// True if any job of the pool that is there may run on the type.
  [[nodiscard]] bool uses(std::uint32_t pool, std::size_t type) const {
    return pools_[pool].jobs.empty() || pools_[pool].jobs[type] > 0;
  }
  /// Returns the thousandths of GPUs that the jobs of the pool may hold at once now: those in service, of the types on
  /// which any job of the pool that is there may run, within the quota.
  [[nodiscard]] std::int64_t capacity(const ClusterView& cluster, std::uint32_t pool) const;

 private:
  struct Pool {
    std::int32_t vc = -1;
    std::vector<int> jobs;  ///< by type: those that are there and may run on it; empty if servers are all alike
  };
  struct Member {
    std::uint32_t pool = 0;
    std::vector<bool> types;
  };
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::uint32_t> numbers_;
  std::vector<Pool> pools_;
  std::map<JobId, Member> members_;  // the jobs that are there; empty if servers are all alike
};

}  // namespace contend
