#include "policies/compression/sparse.hpp"

#include "policies/compression/kernels.hpp"
#include "policies/compression/routes.hpp"

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

Bytes SparseMethod::pairs(const OverlapProblem& problem, std::int64_t k) {
  return Bytes{k * (kIndexBytes + problem.gradient_element_bytes)};
}

ExchangeStage SparseMethod::compress(const OverlapProblem& problem, std::int64_t d, std::int64_t k) const {
  return ExchangeStage::kernel("select",
                               problem.kernels->of(kernels::add_residual(d)) + select(*problem.kernels, d, k));
}

std::optional<RouteRefusal> SparseMethod::refusal(MessageRoute route) const {
  if (route == MessageRoute::all_reduce || route == MessageRoute::scatter_gather) return refuse_indices();
  return std::nullopt;
}

std::vector<ExchangeStage> SparseMethod::stages(const OverlapProblem& problem, const GradientGroup& group) const {
  const std::int64_t d = problem.elements(group), k = count(problem, group), all = k * problem.workers;
  std::vector<ExchangeStage> made{compress(problem, d, k)};
  const auto unpack = [&](std::int64_t values) {
    made.push_back(ExchangeStage::kernel("add up", problem.kernels->of(kernels::scatter_add(d, values))));
  };
  if (problem.route(MessageRoute::all_gather) != MessageRoute::server) {
    made.push_back(ExchangeStage::send("all-gather", CollectiveKind::all_gather, pairs(problem, all)));
    unpack(all);
    return made;
  }
  made.push_back(ExchangeStage::send("push", CollectiveKind::reduce, pairs(problem, k)));
  const Bytes sum = pairs(problem, std::min(all, d)), dense = problem.size(group);
  made.push_back(ExchangeStage::send("pull", CollectiveKind::broadcast, std::min(sum, dense)));
  if (sum < dense) unpack(std::min(all, d));
  return made;
}

}  // namespace contend
