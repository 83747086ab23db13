// First fit: the first GPUs in index order that have enough free memory.

#include "policies/factories.hpp"

namespace contend {

namespace {

class FirstFit final : public PlacementPolicy {
 public:
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    const auto needed = static_cast<std::size_t>(job.gpus);
    for (std::size_t g = 0; g < cluster.gpus(); ++g) {
      if (cluster.free_memory(GpuId{g}) < job.memory_per_gpu) continue;
      chosen.emplace_back(g);
      if (chosen.size() == needed) return;
    }
    chosen.clear();
  }
};

}  // namespace

std::unique_ptr<PlacementPolicy> make_first_fit(const Parameters&, const PolicyContext&) {
  return std::make_unique<FirstFit>();
}

}  // namespace contend
