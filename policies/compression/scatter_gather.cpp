// Quantised all-reduce in two halves: worker j gets chunk j of everyone (all-to-all), adds up, quantises the sum, and
// everybody gathers the chunks. ByteGrad (Gan et al., BAGUA, VLDB 2022) with 8 bits and a range for each chunk; 1-bit
// Adam (Tang et al., ICML 2021) and APMSqueeze (Tang et al., arXiv 2008.11343) with signs, a scale for each chunk and
// residuals at both ends, after a warm-up in full precision.

#include "models/overlap/codec.hpp"
#include "models/overlap/problem.hpp"
#include "policies/compression/kernels.hpp"
#include "policies/factories.hpp"

#include <algorithm>
#include <cstdint>

namespace contend {

namespace {

class ScatterGather : public GradientCodec {
 public:
  ScatterGather(std::int64_t bits, std::int64_t header_bytes, bool residual)
      : bits_{bits}, header_bytes_{header_bytes}, residual_{residual} {}

  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const std::int64_t d = problem.elements(group);
    const std::int64_t chunk = (d + problem.workers - 1) / problem.workers;
    const Bytes message{problem.workers * ((chunk * bits_ + 7) / 8 + header_bytes_)};
    const KernelCosts& costs = *problem.kernels;
    const Time middle = costs.of(kernels::decode_sum(chunk, bits_, problem.workers)) + encode(costs, chunk);
    return {ExchangeStage::kernel("encode", encode(costs, d)),
            ExchangeStage::send("all-to-all", CollectiveKind::all_to_all, message),
            ExchangeStage::kernel("add up", middle),
            ExchangeStage::send("all-gather", CollectiveKind::all_gather, message),
            ExchangeStage::kernel("decode", costs.of(kernels::decode(d, bits_)))};
  }

 private:
  [[nodiscard]] Time encode(const KernelCosts& costs, std::int64_t d) const {
    const Time code = costs.of(kernels::quantize(d, bits_));
    return residual_ ? costs.of(kernels::add_residual(d)) + code + costs.of(kernels::keep_residual(d)) : code;
  }

  std::int64_t bits_, header_bytes_;
  bool residual_;
};

class OneBitAdam final : public ScatterGather {
 public:
  explicit OneBitAdam(double warm_up) : ScatterGather{1, 4, true}, warm_up_{warm_up} {}
  [[nodiscard]] std::vector<double> phases() const override { return {warm_up_, 1 - warm_up_}; }
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    if (problem.phase > 0) return ScatterGather::stages(problem, group);
    return {ExchangeStage::send("all-reduce", CollectiveKind::all_reduce, problem.size(group))};
  }

 private:
  double warm_up_;
};

}  // namespace

std::unique_ptr<GradientCodec> make_byte_grad(const Parameters&, const PolicyContext&) {
  return std::make_unique<ScatterGather>(8, 8, false);
}

std::unique_ptr<GradientCodec> make_one_bit_adam(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<OneBitAdam>(parameters.get<double>("warm_up"));
}

}  // namespace contend
