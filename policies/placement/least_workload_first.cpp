// LWF-kappa, least workload first (arXiv 2002.10105, section 4.2, and the authors' simulator), gives a job of at most
// kappa GPUs the least loaded GPUs of the whole cluster. A larger job fills the servers in order of their mean load, so
// that it spans few of them. List scheduling is LWF without the second case.
//
// The load of a GPU is the work left on it (ClusterView::load). Ties go to the smaller server, then to the smaller GPU
// index.

#include "policies/registry.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace contend {

namespace {

class LeastWorkloadFirst final : public PlacementPolicy {
 public:
  explicit LeastWorkloadFirst(std::int64_t kappa) : kappa_{kappa} {}

  [[nodiscard]] bool refuses_alike() const override { return true; }
  [[nodiscard]] bool ignores_progress_on_full_servers() const override { return true; }
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    const auto needed = static_cast<std::size_t>(job.gpus);
    if (job.gpus <= kappa_) {
      cluster.least_loaded(job, needed, chosen);
    } else {
      fill_servers(cluster, job, needed, chosen);
    }
    if (chosen.size() < needed) chosen.clear();
  }

 private:
  void fill_servers(const ClusterView& cluster, const JobView& job, std::size_t needed, std::vector<GpuId>& chosen) {
    // All servers have equally many GPUs, so means have the order of sums: integers compare exactly.
    servers_.clear();
    cluster.least_loaded_servers(job, needed, servers_);
    for (const ServerId server : servers_) {
      const auto begin = static_cast<std::ptrdiff_t>(chosen.size());
      cluster.gpus_with_room(server, job, chosen);
      std::sort(chosen.begin() + begin, chosen.end(), [&](GpuId a, GpuId b) {
        return std::pair{cluster.load(a), a} < std::pair{cluster.load(b), b};
      });
    }
    if (chosen.size() > needed) chosen.resize(needed);
  }

  std::int64_t kappa_;
  std::vector<ServerId> servers_;
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
