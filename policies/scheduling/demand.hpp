#pragma once
// Policies that plan with numbers of GPUs count the demand of jobs in thousandths of a GPU, separately for each pool.

#include "sim/ports.hpp"

#include <cstdint>
#include <map>
#include <tuple>

namespace contend {

/// Returns the number of GPUs that must be wholly free for the job to start; 0 if the job can share GPUs with others.
[[nodiscard]] inline int demand_of(const JobView& job) {
  return job.gpu_share == kWholeGpu ? job.gpus : 0;
}

/// Returns the thousandths of GPUs that the job needs. A job that names no share (gpu_share 0) counts with whole GPUs.
[[nodiscard]] inline std::int64_t width_of(const JobView& job) {
  return static_cast<std::int64_t>(job.gpus) * (job.gpu_share == 0 ? kWholeGpu : job.gpu_share);
}

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
                      job.pace};
    return numbers_.try_emplace(shape, static_cast<std::int32_t>(numbers_.size())).first->second;
  }

 private:
  using Shape = std::tuple<std::int32_t, std::int32_t, int, std::int32_t, std::int64_t, std::int32_t, std::int64_t,
                           std::int32_t, std::int32_t>;
  std::map<Shape, std::int32_t> numbers_;
};

/// Divides jobs into pools. The jobs of a pool compete for GPUs: they may use the same servers and share one quota.
class Pools {
 public:
  /// Returns the index of the job's pool. The first job of a pool gets the next unused index.
  [[nodiscard]] std::uint32_t of(const ClusterView& cluster, const JobView& job);
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }
  /// Returns the thousandths of GPUs that the jobs of the pool may hold at once.
  [[nodiscard]] static std::int64_t capacity(const ClusterView& cluster, const JobView& job);

 private:
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::uint32_t> numbers_;
};

}  // namespace contend
