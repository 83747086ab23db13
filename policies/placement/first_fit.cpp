// First fit: the first GPUs in index order that have room.

#include "policies/factories.hpp"
#include "policies/placement/candidates.hpp"

namespace contend {

namespace {

class FirstFit final : public PlacementPolicy {
 public:
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    candidates_with_room(cluster, job, chosen);
    const auto needed = static_cast<std::size_t>(job.gpus);
    chosen.resize(chosen.size() < needed ? 0 : needed);
  }
};

}  // namespace

std::unique_ptr<PlacementPolicy> make_first_fit(const Parameters&, const PolicyContext&) {
  return std::make_unique<FirstFit>();
}

}  // namespace contend
