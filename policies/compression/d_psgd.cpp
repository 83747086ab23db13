// D-PSGD (Lian et al., NeurIPS 2017) averages the whole weights of each worker with the weights of its two neighbours
// on a ring, while the worker computes the gradient at its own weights. The average and the gradient give the next
// weights. Each worker sends two messages of the whole model, one after the other, and receives two.

#include "models/overlap/compression_method.hpp"
#include "models/overlap/problem.hpp"
#include "policies/compression/kernels.hpp"
#include "policies/registry.hpp"

namespace contend {

namespace {

class DecentralizedRing final : public CompressionMethod {
 public:
  [[nodiscard]] ExchangeMoment moment() const override { return ExchangeMoment::weights; }
  [[nodiscard]] PeerRule peers() const override { return ring_of_workers(); }

  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const Bytes size = problem.size(group);
    std::vector<ExchangeStage> made{ExchangeStage::send("to the right", CollectiveKind::exchange, size)};
    const bool two_neighbours = problem.workers > 2;
    if (two_neighbours) made.push_back(ExchangeStage::send("to the left", CollectiveKind::exchange, size));
    const KernelWork average = kernels::mix(problem.elements(group), two_neighbours ? 3 : 2);
    made.push_back(ExchangeStage::kernel("average", problem.kernels->of(average)));
    return made;
  }
};

}  // namespace

PolicyRow<CompressionMethod> d_psgd_compression() {
  return {.name = "d-psgd",
          .summary = "all weights averaged with two neighbours on a ring, while computing",
          .source = "Lian et al., NeurIPS 2017",
          .make = make_own<CompressionMethod, DecentralizedRing>};
}

}  // namespace contend
