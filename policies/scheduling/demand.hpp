#pragma once
// What jobs ask for, as the policies count it that plan with numbers of GPUs: in thousandths of a GPU, in pools.

#include "sim/ports.hpp"

#include <cstdint>
#include <map>
#include <tuple>

namespace contend {

/// Thousandths of GPUs that the job needs. One that names no share (gpu_share 0) counts with whole GPUs.
[[nodiscard]] inline std::int64_t width_of(const JobView& job) {
  return static_cast<std::int64_t>(job.gpus) * (job.gpu_share == 0 ? kWholeGpu : job.gpu_share);
}

/// Numbers for jobs that ask for the same: what holds for the place of one at an instant holds for the others.
class Shapes {
 public:
  [[nodiscard]] std::int32_t of(const JobView& job) {
    const Shape shape{job.gpus,       job.gpu_share,           job.memory_per_gpu.count(),
                      job.milli_cpus, job.host_memory.count(), job.gpu_type};
    return numbers_.try_emplace(shape, static_cast<std::int32_t>(numbers_.size())).first->second;
  }

 private:
  using Shape = std::tuple<int, std::int32_t, std::int64_t, std::int32_t, std::int64_t, std::int32_t>;
  std::map<Shape, std::int32_t> numbers_;
};

/// Jobs compete for GPUs with those of their pool: those that may use the same servers, or have one quota in common.
class Pools {
 public:
  /// The index of the pool; the next one that was never given before, if its jobs are the first of a pool.
  [[nodiscard]] std::uint32_t of(const ClusterView& cluster, const JobView& job);
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }
  /// Thousandths of GPUs that the jobs of the pool may hold at once.
  [[nodiscard]] static std::int64_t capacity(const ClusterView& cluster, const JobView& job);

 private:
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::uint32_t> numbers_;
};

}  // namespace contend
