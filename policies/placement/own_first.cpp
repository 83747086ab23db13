// Where servers are lent to the cluster (sim/loans.hpp), this policy puts what can't be given up on servers of its own,
// and what can on lent ones (Lyra: Li et al., EuroSys 2023, section 5): the fewest GPUs on which a job can run go on
// own servers as far as they have room, those that an elastic job has beyond them on lent ones. In each part a server
// that takes all that is left is filled up, the one with the least room first (best fit); if there is none, the server
// with the most room is used up. The GPUs of the base demand come first in the order of the ranks, so that a job that
// shrinks keeps them.

#include "policies/placement/free_servers.hpp"
#include "policies/registry.hpp"

#include <algorithm>
#include <vector>

namespace contend {

namespace {

class OwnFirst final : public PlacementPolicy {
 public:
  [[nodiscard]] bool refuses_alike() const override { return true; }
  [[nodiscard]] bool ignores_progress() const override { return true; }
  [[nodiscard]] bool takes_free_gpus() const override { return true; }
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    if (asks_for_share(job)) return place_share(cluster, job, false, chosen);
    const ServerRange lent = cluster.loanable();
    own_.clear();
    lent_.clear();
    int room = 0;
    FreeServers servers{cluster, job};
    for (ServerId s = servers.first(1); s.valid(); s = servers.first_from(1, after(s))) {
      Part& part = (lent.contains(s) ? lent_ : own_).emplace_back();
      servers.take(s, servers.room(s), part.gpus);
      room += static_cast<int>(part.gpus.size());
    }
    if (room < job.gpus) return;
    const auto sizes = cluster.sizes_of(job.id);
    const int base = sizes.empty() ? job.gpus : std::min(job.gpus, sizes.front());
    take(lent_, take(own_, base, chosen), chosen);
    take(own_, take(lent_, job.gpus - static_cast<int>(chosen.size()), chosen), chosen);
  }

 private:
  /// The free GPUs of a server.
  struct Part {
    std::vector<GpuId> gpus;
    std::size_t used = 0;
    [[nodiscard]] int room() const { return static_cast<int>(gpus.size() - used); }
  };

  /// Takes up to so many GPUs; returns how many are still missing.
  static int take(std::vector<Part>& parts, int needed, std::vector<GpuId>& chosen) {
    while (needed > 0) {
      Part* best = nullptr;
      for (Part& part : parts) {
        if (part.room() == 0) continue;
        const bool suffices = part.room() >= needed;
        if (best == nullptr ||
            (best->room() >= needed ? suffices && part.room() < best->room() : part.room() > best->room()))
          best = &part;
      }
      if (best == nullptr) return needed;
      for (; needed > 0 && best->room() > 0; --needed) chosen.push_back(best->gpus[best->used++]);
    }
    return 0;
  }

  std::vector<Part> own_, lent_;  // scratch
};

}  // namespace

PolicyRow<PlacementPolicy> own_first_placement() {
  return {
      .name = "own-first",
      .summary = "what a job needs at least on servers that aren't lent, what an elastic one has beyond on lent ones",
      .source = "Li et al., EuroSys 2023 (Lyra)",
      .make = make_own<PlacementPolicy, OwnFirst>};
}

}  // namespace contend
