// Dominant resource fairness (Ghodsi et al., NSDI 2011, section 4.1) serves the account with the smallest dominant
// share in proportion to its weight. The dominant share of an account is the largest of its shares of the cluster's
// GPUs, CPUs and host memory.

#include "policies/registry.hpp"
#include "policies/scheduling/host_room.hpp"
#include "policies/scheduling/shares.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace contend {

namespace {

class DominantResource final : public SharePolicy {
 public:
  using SharePolicy::SharePolicy;

 private:
  /// Counts what the servers in service have together. A resource that is not limited is 0.
  void look(const ClusterView& cluster) override {
    constexpr std::int64_t kNotCounted = 1'000'000'000'000'000;  // more CPUs or bytes than any server has
    const std::uint64_t now = service_changes(cluster);
    if (std::exchange(changes_, now) == now) return;
    cluster_ = {};
    for (const auto& [host, gpus] : whole_servers(cluster)) {
      if (gpus == 0) continue;
      cluster_.milli_gpus += std::int64_t{gpus} * kWholeGpu;
      if (host.milli_cpus < kNotCounted) cluster_.milli_cpus += host.milli_cpus;
      if (host.host_memory < kNotCounted) cluster_.host_bytes += host.host_memory;
    }
  }
  double share(std::int32_t, const Holdings& held, double weight) override {
    const auto part = [](std::int64_t used, std::int64_t of) {
      return of == 0 ? 0.0 : static_cast<double>(used) / static_cast<double>(of);
    };
    return std::max({part(held.milli_gpus, cluster_.milli_gpus), part(held.milli_cpus, cluster_.milli_cpus),
                     part(held.host_bytes, cluster_.host_bytes)}) /
           weight;
  }

  Holdings cluster_;
  std::optional<std::uint64_t> changes_;  // of the servers, when they were counted
};

std::unique_ptr<SchedulingPolicy> make_drf(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<DominantResource>(SharePolicy::Options{parameters, context});
}

}  // namespace

PolicyRow<SchedulingPolicy> drf_scheduling() {
  static constexpr ParameterInfo kParameters[] = {kByUser, kReclaim, kStrictShares};
  return {.name = "drf",
          .summary = "the virtual cluster or user with the smallest dominant share goes next",
          .source = "Ghodsi et al., NSDI 2011",
          .parameters = kParameters,
          .make = make_drf,
          .compares_vcs = true,
          .accounts = accounts_of_shares};
}

}  // namespace contend
