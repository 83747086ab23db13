// First fit takes the first GPUs in index order that have room.

#include "policies/placement/candidates.hpp"
#include "policies/placement/free_servers.hpp"
#include "policies/registry.hpp"

#include <algorithm>

namespace contend {

namespace {

class FirstFit final : public PlacementPolicy {
 public:
  [[nodiscard]] bool refuses_alike() const override { return true; }
  [[nodiscard]] bool ignores_progress() const override { return true; }
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    if (job.gpu_share == kWholeGpu) return place_whole(cluster, job, chosen);
    const auto needed = static_cast<std::size_t>(job.gpus);
    candidates_with_room(cluster, job, chosen, needed);
    if (chosen.size() < needed) chosen.clear();
  }

 private:
  /// Places a job on whole free GPUs, found through the index of free GPUs.
  static void place_whole(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) {
    FreeServers servers{cluster, job};
    int left = job.gpus;
    for (ServerId server = servers.first(1); left > 0; server = servers.first_from(1, after(server))) {
      if (!server.valid()) return chosen.clear();
      const int count = std::min(left, servers.room(server));
      servers.take(server, count, chosen);
      left -= count;
    }
  }
};

}  // namespace

PolicyRow<PlacementPolicy> first_fit_placement() {
  return {.name = "first-fit",
          .summary = "the first GPUs in index order with enough free memory",
          .source = "textbook",
          .make = make_own<PlacementPolicy, FirstFit>};
}

}  // namespace contend
