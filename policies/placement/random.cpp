// Random placement draws GPUs without replacement from those with enough free memory.

#include "policies/placement/candidates.hpp"
#include "policies/registry.hpp"
#include "sim/random_stream.hpp"

namespace contend {

namespace {

class RandomPlacement final : public PlacementPolicy {
 public:
  explicit RandomPlacement(std::uint64_t seed) : stream_{seed, "placement.random"} {}

  [[nodiscard]] bool refuses_alike() const override { return true; }
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    candidates_with_room(cluster, job, chosen);
    const auto needed = static_cast<std::size_t>(job.gpus);
    if (chosen.size() < needed) return chosen.clear();
    stream_.shuffle(std::span{chosen});
    chosen.resize(needed);
  }

 private:
  RandomStream stream_;
};

std::unique_ptr<PlacementPolicy> make_random_placement(const Parameters&, const PolicyContext& context) {
  return std::make_unique<RandomPlacement>(context.seed);
}

}  // namespace

PolicyRow<PlacementPolicy> random_placement() {
  return {.name = "random",
          .summary = "GPUs drawn at random from those with enough free memory",
          .source = "textbook",
          .make = make_random_placement};
}

}  // namespace contend
