// LWF-kappa, least workload first (arXiv 2002.10105, section 4.2, and the authors' simulator), gives a job of at most
// kappa GPUs the least loaded GPUs of the whole cluster. A larger job fills the servers in order of their mean load, so
// that it spans few of them. List scheduling is LWF without the second case.
//
// The load of a GPU is the work left on it (ClusterView::load). Ties go to the smaller server, then to the smaller GPU
// index.

#include "policies/placement/candidates.hpp"
#include "policies/registry.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

namespace contend {

namespace {

class LeastWorkloadFirst final : public PlacementPolicy {
 public:
  explicit LeastWorkloadFirst(std::int64_t kappa) : kappa_{kappa} {}

  [[nodiscard]] bool refuses_alike() const override { return true; }
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    candidates_with_room(cluster, job, chosen);
    const auto needed = static_cast<std::size_t>(job.gpus);
    if (chosen.size() < needed) return chosen.clear();
    load_.resize(cluster.gpus());
    if (job.gpus <= kappa_) {
      for (const GpuId gpu : chosen) load_[gpu.index()] = cluster.load(gpu);
      take_least_loaded(chosen, needed);
    } else {
      for (std::size_t g = 0; g < load_.size(); ++g) load_[g] = cluster.load(GpuId{g});
      fill_servers(cluster, chosen, needed);
    }
  }

 private:
  void take_least_loaded(std::vector<GpuId>& chosen, std::size_t needed) const {
    std::partial_sort(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(needed), chosen.end(),
                      [&](GpuId a, GpuId b) { return std::tie(load_[a.index()], a) < std::tie(load_[b.index()], b); });
    chosen.resize(needed);
  }

  void fill_servers(const ClusterView& cluster, std::vector<GpuId>& chosen, std::size_t needed) {
    // All servers have the same number of GPUs, so the order of means is that of sums: integers compare exactly.
    servers_.clear();
    const std::size_t per_server = cluster.gpus() / cluster.servers();
    for (std::size_t s = 0; s < cluster.servers(); ++s) {
      Time sum;
      for (std::size_t g = s * per_server; g < (s + 1) * per_server; ++g) sum += load_[g];
      servers_.emplace_back(sum, s);
    }
    std::sort(servers_.begin(), servers_.end());
    // Candidates stand in index order, server by server.
    const std::vector<GpuId> candidates = std::exchange(chosen, {});
    const auto first_of = [&](std::size_t server) {
      return std::lower_bound(candidates.begin(), candidates.end(), GpuId{server * per_server});
    };
    for (auto server = servers_.begin(); chosen.size() < needed; ++server) {
      const auto begin = static_cast<std::ptrdiff_t>(chosen.size());
      chosen.insert(chosen.end(), first_of(server->second), first_of(server->second + 1));
      std::sort(chosen.begin() + begin, chosen.end(),
                [&](GpuId a, GpuId b) { return std::tie(load_[a.index()], a) < std::tie(load_[b.index()], b); });
    }
    chosen.resize(needed);
  }

  std::int64_t kappa_;
  std::vector<Time> load_;
  std::vector<std::pair<Time, std::size_t>> servers_;
};

std::unique_ptr<PlacementPolicy> make_lwf(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<LeastWorkloadFirst>(parameters.get<std::int64_t>("kappa"));
}

std::unique_ptr<PlacementPolicy> make_list_scheduling(const Parameters&, const PolicyContext&) {
  return std::make_unique<LeastWorkloadFirst>(std::numeric_limits<std::int64_t>::max());
}

}  // namespace

PolicyRow<PlacementPolicy> lwf_placement() {
  static constexpr ParameterInfo kParameters[] = {
      {"kappa", std::int64_t{1}, 1, 1'000'000, "largest number of GPUs that a job may scatter over the cluster"}};
  return {
      .name = "lwf",
      .summary = "least workload first: small jobs on the least loaded GPUs, large ones on the least loaded servers",
      .source = "Wang et al., arXiv 2002.10105",
      .parameters = kParameters,
      .make = make_lwf};
}

PolicyRow<PlacementPolicy> list_scheduling_placement() {
  return {.name = "list-scheduling",
          .summary = "the least loaded GPUs of the cluster, wherever they are",
          .source = "textbook",
          .make = make_list_scheduling};
}

}  // namespace contend
