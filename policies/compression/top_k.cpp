// Top-k sparsification (Aji and Heafield, EMNLP 2017) all-gathers the k largest values by magnitude, selected exactly.
// gTop-k (Shi et al., ICDCS 2019) keeps the k largest values of the sum: pairs of workers merge their selections up a
// binomial tree, and a broadcast distributes the result.

#include "policies/compression/top_k.hpp"

#include "policies/compression/kernels.hpp"
#include "policies/registry.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace contend {

namespace {

class GlobalTopK final : public TopK {
 public:
  explicit GlobalTopK(const Parameters& parameters) : TopK{parameters, parameters.get<double>("density")} {}
  [[nodiscard]] std::optional<RouteRefusal> refusal(MessageRoute route) const override {
    if (route == MessageRoute::usual) return std::nullopt;
    return RouteRefusal{"pairs of workers merge their selections up a tree", "collective: auto"};
  }
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const std::int64_t d = problem.elements(group);
    const std::int64_t k = count(problem, group);
    const auto rounds = static_cast<int>(std::bit_width(static_cast<unsigned>(problem.workers - 1)));
    // Each round merges two selections into one: it adds up their 2k pairs and keeps the k largest.
    const KernelCosts& costs = *problem.kernels;
    const Time merge = costs.of(kernels::radix_select(2 * k, k)) + costs.of(kernels::scatter_add(k, k));
    std::vector<ExchangeStage> made{compress(problem, d, k),
                                    ExchangeStage::send("merge up", CollectiveKind::reduce, pairs(problem, k))};
    if (rounds > 0) made.push_back(ExchangeStage::kernel("merge", merge * rounds));
    made.push_back(ExchangeStage::send("broadcast", CollectiveKind::broadcast, pairs(problem, k)));
    made.push_back(ExchangeStage::kernel("unpack", costs.of(kernels::scatter_add(d, k))));
    return made;
  }
};

}  // namespace

TopK::TopK(const Parameters& parameters, double density)
    : SparseMethod{density}, gamma_ps_{parameters.get<double>("gamma_ps")} {}

Time TopK::select(const KernelCosts& costs, std::int64_t d, std::int64_t k) const {
  if (gamma_ps_ <= 0) return costs.of(kernels::radix_select(d, k));
  const auto n = static_cast<double>(d);
  return Time::ceil_nanoseconds(std::max(1.0, gamma_ps_ * 1e-3 * n * std::log2(n)));
}

namespace {

constexpr ParameterInfo kTopKParameters[] = {density_parameter(0.001), kSelectionTime};

std::unique_ptr<CompressionMethod> make_top_k(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<TopK>(parameters, parameters.get<double>("density"));
}

}  // namespace

PolicyRow<CompressionMethod> top_k_compression() {
  return {.name = "top-k",
          .summary = "the largest values, exactly; all-gathered with their indices",
          .source = "Aji, Heafield, EMNLP 2017",
          .parameters = kTopKParameters,
          .make = make_top_k};
}

PolicyRow<CompressionMethod> gtop_k_compression() {
  return {.name = "gtop-k",
          .summary = "the largest values of the sum, merged up a tree",
          .source = "Shi et al., ICDCS 2019",
          .parameters = kTopKParameters,
          .make = make_own<CompressionMethod, GlobalTopK>};
}

}  // namespace contend
