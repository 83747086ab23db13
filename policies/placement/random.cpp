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
  [[nodiscard]] bool ignores_progress() const override { return true; }
  [[nodiscard]] bool has_place(const ClusterView& cluster, const JobView& job) override {
    std::vector<GpuId> candidates;
    return find_candidates(cluster, job, candidates);
  }
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    draw(cluster, job, stream_, chosen);
  }
  void plan(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    RandomStream copy = stream_;
    draw(cluster, job, copy, chosen);
  }

 private:
  static bool find_candidates(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& candidates) {
    candidates_with_room(cluster, job, candidates);
    return candidates.size() >= static_cast<std::size_t>(job.gpus);
  }
  static void draw(const ClusterView& cluster, const JobView& job, RandomStream& stream, std::vector<GpuId>& chosen) {
    if (!find_candidates(cluster, job, chosen)) return chosen.clear();
    stream.shuffle(std::span{chosen});
    chosen.resize(static_cast<std::size_t>(job.gpus));
  }

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
