// HiTopKComm (Shi et al., MLSys 2021; arXiv 2010.10458) runs a dense reduce-scatter inside each server, MSTopK on the
// shard of each worker, an all-gather of the selections among the workers with the same shard, which add them up, and a
// dense all-gather inside each server. With g workers in a server it selects from d/g values and sends k/g of them,
// where Top-k selects from d values and sends k.

#include "policies/compression/kernels.hpp"
#include "policies/compression/levels.hpp"
#include "policies/compression/sparse.hpp"
#include "policies/registry.hpp"

#include <cstdint>

namespace contend {

namespace {

class HiTopK final : public SparseMethod {
 public:
  explicit HiTopK(const Parameters& parameters)
      : SparseMethod{parameters.get<double>("density")}, samples_{parameters.get<std::int64_t>("samples")} {}

  [[nodiscard]] std::optional<RouteRefusal> refusal(MessageRoute route) const override {
    return CompressionMethod::refusal(route);  // each level has its own collective
  }
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const Levels levels = levels_of(problem);
    const Bytes size = problem.size(group);
    const std::int64_t shard = (problem.elements(group) + levels.per_server - 1) / levels.per_server;
    const std::int64_t k = selected(shard, density());
    std::vector<ExchangeStage> made{
        ExchangeStage::send("reduce-scatter inside", CollectiveKind::reduce_scatter, size, CollectiveScope::server)};
    if (levels.servers > 1) {
      made.push_back(compress(problem, shard, k));
      made.push_back(ExchangeStage::send("all-gather between", CollectiveKind::all_gather,
                                         pairs(problem, k * levels.servers), CollectiveScope::peers));
      made.push_back(
          ExchangeStage::kernel("add up", problem.kernels->of(kernels::scatter_add(shard, k * levels.servers))));
    }
    made.push_back(ExchangeStage::send("all-gather inside", CollectiveKind::all_gather, size, CollectiveScope::server));
    return made;
  }

 protected:
  [[nodiscard]] Time select(const KernelCosts& costs, std::int64_t d, std::int64_t k) const override {
    return sampled_select(costs, d, k, samples_);
  }

 private:
  std::int64_t samples_;
};

}  // namespace

PolicyRow<CompressionMethod> hitopk_compression() {
  return {.name = "hitopk",
          .summary = "sums of each server, selected by sampled thresholds; all-gathered between servers",
          .source = "Shi et al., MLSys 2021 (HiTopKComm)",
          .parameters = kSampledParameters,
          .make = make_own<CompressionMethod, HiTopK>};
}

}  // namespace contend
