#include "policies/placement/pinned.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace contend {

namespace {

class PinnedPlacement final : public PlacementPolicy {
 public:
  PinnedPlacement(std::vector<std::vector<GpuId>> places, std::unique_ptr<PlacementPolicy> others)
      : places_{std::move(places)}, others_{std::move(others)} {}

  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    job.place < 0 ? others_->place(cluster, job, chosen) : place_pinned(cluster, job, chosen);
  }
  void plan(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    job.place < 0 ? others_->plan(cluster, job, chosen) : place_pinned(cluster, job, chosen);
  }
  [[nodiscard]] bool has_place(const ClusterView& cluster, const JobView& job) override {
    return job.place < 0 ? others_->has_place(cluster, job) : PlacementPolicy::has_place(cluster, job);
  }
  /// Equal demand includes the place.
  [[nodiscard]] bool refuses_alike() const override { return others_->refuses_alike(); }
  [[nodiscard]] bool ignores_progress() const override { return others_->ignores_progress(); }
  [[nodiscard]] bool ignores_progress_on_full_servers() const override {
    return others_->ignores_progress_on_full_servers();
  }
  [[nodiscard]] RoomNeeded room_needed(const JobView& job, int gpus_per_server) const override {
    return job.place < 0 ? others_->room_needed(job, gpus_per_server) : RoomNeeded{};
  }
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override { return others_->next_decision(cluster); }

 private:
  void place_pinned(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) const {
    const std::vector<GpuId>& wanted = places_[static_cast<std::size_t>(job.place)];
    const bool fits = std::ranges::all_of(wanted, [&](GpuId gpu) { return cluster.fits(gpu, job); });
    if (fits && has_hosts(cluster, job, wanted)) chosen = wanted;
  }
  /// True if the servers have the CPUs and the memory for their ranks.
  static bool has_hosts(const ClusterView& cluster, const JobView& job, const std::vector<GpuId>& wanted) {
    if (job.milli_cpus == 0 && job.host_memory == Bytes{}) return true;
    std::map<ServerId, std::int64_t> ranks;
    for (const GpuId gpu : wanted) ++ranks[cluster.server_of(gpu)];
    return std::ranges::all_of(ranks,
                               [&](const auto& each) { return each.second <= cluster.ranks_by_host(each.first, job); });
  }

  std::vector<std::vector<GpuId>> places_;
  std::unique_ptr<PlacementPolicy> others_;
};

}  // namespace

std::unique_ptr<PlacementPolicy> make_pinned_placement(std::vector<std::vector<GpuId>> places,
                                                       std::unique_ptr<PlacementPolicy> others) {
  CONTEND_CHECK(others != nullptr, "jobs without a place need a placement policy");
  return std::make_unique<PinnedPlacement>(std::move(places), std::move(others));
}

}  // namespace contend
