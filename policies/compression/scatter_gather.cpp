// Quantised all-reduce in two halves: worker j gets chunk j of everyone (all-to-all), adds up, quantises the sum, and
// everybody gathers the chunks. ByteGrad (Gan et al., BAGUA, VLDB 2022) with 8 bits and a range for each chunk; 1-bit
// Adam (Tang et al., ICML 2021) and APMSqueeze (Tang et al., arXiv 2008.11343) with signs, a scale for each chunk and
// residuals at both ends, after a warm-up in full precision; QAdam (BAGUA) with such a warm-up and the momentum in 8
// bits. Hierarchical, as BAGUA has them: full precision inside servers, these two halves among one worker of each.

#include "policies/compression/kernels.hpp"
#include "policies/compression/levels.hpp"
#include "policies/factories.hpp"

#include <cstdint>

namespace contend {

namespace {

class ScatterGather : public GradientCodec {
 public:
  ScatterGather(std::int64_t bits, std::int64_t header_bytes, bool residual, bool hierarchical)
      : bits_{bits}, header_bytes_{header_bytes}, residual_{residual}, hierarchical_{hierarchical} {}

  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const Circle circle = circle_of(problem, hierarchical_);
    const auto made = circle.workers > 1 ? in_circle(problem, problem.elements(group), circle)
                                         : std::vector<ExchangeStage>{};  // one server
    return hierarchical_ ? through_leaders(problem.size(group), made) : made;
  }

 private:
  [[nodiscard]] std::vector<ExchangeStage> in_circle(const OverlapProblem& problem, std::int64_t d,
                                                     const Circle& circle) const {
    const std::int64_t chunk = (d + circle.workers - 1) / circle.workers;
    const Bytes message{circle.workers * ((chunk * bits_ + 7) / 8 + header_bytes_)};
    const KernelCosts& costs = *problem.kernels;
    const Time middle = costs.of(kernels::decode_sum(chunk, bits_, circle.workers)) + encode(costs, chunk);
    return {ExchangeStage::kernel("encode", encode(costs, d)),
            ExchangeStage::send("all-to-all", CollectiveKind::all_to_all, message, circle.scope),
            ExchangeStage::kernel("add up", middle),
            ExchangeStage::send("all-gather", CollectiveKind::all_gather, message, circle.scope),
            ExchangeStage::kernel("decode", costs.of(kernels::decode(d, bits_)))};
  }

  [[nodiscard]] Time encode(const KernelCosts& costs, std::int64_t d) const {
    const Time code = costs.of(kernels::quantize(d, bits_));
    return residual_ ? costs.of(kernels::add_residual(d)) + code + costs.of(kernels::keep_residual(d)) : code;
  }

  std::int64_t bits_, header_bytes_;
  bool residual_, hierarchical_;
};

/// Phase 0 in full precision, flat (BAGUA too: bagua/torch_api/algorithms/q_adam.py).
class WarmedUp : public ScatterGather {
 public:
  WarmedUp(double warm_up, const ScatterGather& after) : ScatterGather{after}, warm_up_{warm_up} {}
  [[nodiscard]] std::vector<double> phases() const override { return {warm_up_, 1 - warm_up_}; }
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    if (problem.phase > 0) return ScatterGather::stages(problem, group);
    return {ExchangeStage::send("all-reduce", CollectiveKind::all_reduce, problem.size(group))};
  }

 private:
  double warm_up_;
};

/// Makes the momentum of the gradients before it sends that.
class QAdam final : public WarmedUp {
 public:
  using WarmedUp::WarmedUp;
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    auto made = WarmedUp::stages(problem, group);
    if (problem.phase == 0) return made;
    const Time momentum = problem.kernels->of(kernels::mix(problem.elements(group), 2));
    made.insert(made.begin(), ExchangeStage::kernel("momentum", momentum));
    return made;
  }
};

ScatterGather in_bytes(const Parameters& parameters) {
  return {8, 8, false, parameters.get<bool>("hierarchical")};
}

}  // namespace

std::unique_ptr<GradientCodec> make_byte_grad(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<ScatterGather>(in_bytes(parameters));
}

std::unique_ptr<GradientCodec> make_one_bit_adam(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<WarmedUp>(parameters.get<double>("warm_up"),
                                    ScatterGather{1, 4, true, parameters.get<bool>("hierarchical")});
}

std::unique_ptr<GradientCodec> make_q_adam(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<QAdam>(parameters.get<double>("warm_up"), in_bytes(parameters));
}

}  // namespace contend
