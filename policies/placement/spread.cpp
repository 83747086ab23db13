// Spread uses as many servers as possible, so that each job gets the largest share of network interfaces. In each round
// every server with a free GPU contributes one GPU: servers with more free GPUs first, then servers with smaller ids.
// The next round starts when every server has contributed.

#include "policies/placement/free_servers.hpp"
#include "policies/registry.hpp"

#include <climits>
#include <cstddef>
#include <vector>

namespace contend {

namespace {

class Spread final : public PlacementPolicy {
 public:
  [[nodiscard]] bool refuses_alike() const override { return true; }
  [[nodiscard]] bool ignores_progress() const override { return true; }
  [[nodiscard]] bool takes_free_gpus() const override { return true; }
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    if (asks_for_share(job)) return place_share(cluster, job, true, chosen);
    FreeServers servers{cluster, job};
    found_.clear();
    servers.emptiest_first(job.gpus, INT_MAX, found_);
    std::vector<int> shares(found_.size());
    int left = job.gpus;
    for (int round = 1; left > 0; ++round) {
      const int before = left;
      for (std::size_t i = 0; i < found_.size() && left > 0; ++i) {
        if (servers.room(found_[i]) < round) continue;
        ++shares[i];
        --left;
      }
      if (left == before) return;
    }
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (shares[i] > 0) servers.take(found_[i], shares[i], chosen);
    }
  }

 private:
  std::vector<ServerId> found_;
};

}  // namespace

PolicyRow<PlacementPolicy> spread_placement() {
  return {.name = "spread",
          .summary = "one GPU on each of as many servers as possible, the emptiest first",
          .source = "textbook",
          .make = make_own<PlacementPolicy, Spread>};
}

}  // namespace contend
