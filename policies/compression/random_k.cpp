// Random-k (Stich et al., NeurIPS 2018) with a seed that all workers share. They pick the same values, so they need not
// send indices, and an all-reduce can add up the picked values.

#include "policies/compression/kernels.hpp"
#include "policies/compression/routes.hpp"
#include "policies/compression/sparse.hpp"
#include "policies/registry.hpp"

namespace contend {

namespace {

class RandomK final : public SparseMethod {
 public:
  using SparseMethod::SparseMethod;
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const std::int64_t d = problem.elements(group);
    const std::int64_t k = selected(d, density());
    std::vector<ExchangeStage> made{compress(problem, d, k)};
    add_up_values(problem, k, "", made);
    made.push_back(ExchangeStage::kernel("unpack", problem.kernels->of(kernels::scatter_add(d, k))));
    return made;
  }
  [[nodiscard]] std::optional<RouteRefusal> refusal(MessageRoute) const override { return std::nullopt; }

 protected:
  [[nodiscard]] Time select(const KernelCosts& costs, std::int64_t d, std::int64_t k) const override {
    return costs.of(kernels::gather(d, k));
  }
};

std::unique_ptr<CompressionMethod> make_random_k(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<RandomK>(parameters.get<double>("density"));
}

}  // namespace

PolicyRow<CompressionMethod> random_k_compression() {
  static constexpr ParameterInfo kParameters[] = {density_parameter(0.01)};
  return {.name = "random-k",
          .summary = "the same random values on every worker, all-reduced without indices",
          .source = "Stich et al., NeurIPS 2018",
          .parameters = kParameters,
          .make = make_random_k};
}

}  // namespace contend
