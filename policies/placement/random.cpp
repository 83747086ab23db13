// Random placement draws GPUs without replacement from those with enough free memory. Each virtual cluster that has
// servers of its own has a stream of random numbers of its own, which bears its name, so that the jobs of another one
// change nothing for its jobs. All others share the servers that are left, and a stream.

#include "policies/placement/candidates.hpp"
#include "policies/registry.hpp"
#include "sim/random_stream.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <fmt/core.h>

namespace contend {

namespace {

class RandomPlacement final : public PlacementPolicy {
 public:
  explicit RandomPlacement(const PolicyContext& context) : seed_{context.seed}, vc_name_{context.vc_name} {}

  [[nodiscard]] bool refuses_alike() const override { return true; }
  [[nodiscard]] bool ignores_progress() const override { return true; }
  [[nodiscard]] bool has_place(const ClusterView& cluster, const JobView& job) override {
    std::vector<GpuId> candidates;
    return find_candidates(cluster, job, candidates);
  }
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    draw(cluster, job, stream_of(cluster, job), chosen);
  }
  void plan(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    RandomStream copy = stream_of(cluster, job);
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

  RandomStream& stream_of(const ClusterView& cluster, const JobView& job) {
    const std::int32_t owner = cluster.owns_servers(job.vc) ? job.vc : -1;
    const auto known = streams_.find(owner);
    if (known != streams_.end()) return known->second;
    std::string name = "placement.random";
    if (owner >= 0) name += "/" + (vc_name_ ? vc_name_(owner) : fmt::format("{}", owner));
    return streams_.emplace(owner, RandomStream{seed_, name}).first->second;
  }

  std::uint64_t seed_;
  std::function<std::string(std::int32_t)> vc_name_;
  std::map<std::int32_t, RandomStream> streams_;  // by owner of servers; -1: servers that no virtual cluster owns
};

std::unique_ptr<PlacementPolicy> make_random_placement(const Parameters&, const PolicyContext& context) {
  return std::make_unique<RandomPlacement>(context);
}

}  // namespace

PolicyRow<PlacementPolicy> random_placement() {
  return {.name = "random",
          .summary = "GPUs drawn at random from those with enough free memory",
          .source = "textbook",
          .make = make_random_placement};
}

}  // namespace contend
