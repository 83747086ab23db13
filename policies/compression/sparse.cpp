#include "policies/compression/sparse.hpp"

#include "policies/compression/kernels.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

namespace {
constexpr std::int64_t kIndexBytes = 4;
}

std::int64_t selected(std::int64_t d, double density) {
  const auto k = static_cast<std::int64_t>(std::ceil(static_cast<double>(d) * density));
  return std::clamp<std::int64_t>(k, 1, d);
}

Time sampled_select(const KernelCosts& costs, std::int64_t d, std::int64_t k, std::int64_t samples) {
  return costs.of(kernels::reduction(d, 2 + static_cast<int>(samples))) + costs.of(kernels::compact(d, k));
}

Bytes SparseCodec::pairs(const OverlapProblem& problem, std::int64_t k) {
  return Bytes{k * (kIndexBytes + problem.gradient_element_bytes)};
}

ExchangeStage SparseCodec::compress(const OverlapProblem& problem, std::int64_t d, std::int64_t k) const {
  return ExchangeStage::kernel("select",
                               problem.kernels->of(kernels::add_residual(d)) + select(*problem.kernels, d, k));
}

std::vector<ExchangeStage> SparseCodec::stages(const OverlapProblem& problem, const GradientGroup& group) const {
  const std::int64_t d = problem.elements(group);
  const std::int64_t k = selected(d, density_);
  return {compress(problem, d, k),
          ExchangeStage::send("all-gather", CollectiveKind::all_gather, pairs(problem, k * problem.workers)),
          ExchangeStage::kernel("add up", problem.kernels->of(kernels::scatter_add(d, k * problem.workers)))};
}

}  // namespace contend
