// Random-k (Stich et al., NeurIPS 2018) with a seed that all workers share: they pick the same values, so that no
// indices are sent and the picked values can be all-reduced.

#include "policies/compression/kernels.hpp"
#include "policies/compression/sparse.hpp"
#include "policies/factories.hpp"

namespace contend {

namespace {

class RandomK final : public SparseCodec {
 public:
  using SparseCodec::SparseCodec;
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const std::int64_t d = problem.elements(group);
    const std::int64_t k = selected(d, density());
    return {compress(problem, d, k),
            ExchangeStage::send("all-reduce", CollectiveKind::all_reduce, Bytes{k * problem.gradient_element_bytes}),
            ExchangeStage::kernel("unpack", problem.kernels->of(kernels::scatter_add(d, k)))};
  }

 protected:
  [[nodiscard]] Time select(const KernelCosts& costs, std::int64_t d, std::int64_t k) const override {
    return costs.of(kernels::gather(d, k));
  }
};

}  // namespace

std::unique_ptr<GradientCodec> make_random_k(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<RandomK>(parameters.get<double>("density"));
}

}  // namespace contend
