// Quantisation whose messages can't be added up on the way, so that everybody gathers everybody's: QSGD (Alistarh et
// al., NeurIPS 2017), TernGrad (Wen et al., NeurIPS 2017), Sign-SGD with majority vote (Bernstein et al., ICLR 2019)
// and with error feedback (Karimireddy et al., ICML 2019). And fp16, which an all-reduce can add up.

#include "models/overlap/codec.hpp"
#include "models/overlap/problem.hpp"
#include "policies/compression/kernels.hpp"
#include "policies/factories.hpp"
#include "sim/error.hpp"

#include <cstdint>

namespace contend {

namespace {

Bytes packed(std::int64_t d, std::int64_t bits) {
  return Bytes{(d * bits + 7) / 8};
}

class Fp16 final : public GradientCodec {
 public:
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    if (problem.gradient_element_bytes <= 2) throw InputError{"the gradients are two bytes wide already"};
    const std::int64_t d = problem.elements(group);
    return {ExchangeStage::kernel("to fp16", problem.kernels->of(kernels::encode(d, 16))),
            ExchangeStage::send("all-reduce", CollectiveKind::all_reduce, packed(d, 16)),
            ExchangeStage::kernel("from fp16", problem.kernels->of(kernels::decode(d, 16)))};
  }
};

/// All-gather of d values of `bits` each with a scale for every `bucket` of them (0: none).
class GatheredBits : public GradientCodec {
 public:
  GatheredBits(std::int64_t bits, std::int64_t bucket, bool residual)
      : bits_{bits}, bucket_{bucket}, residual_{residual} {}

  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const std::int64_t d = problem.elements(group);
    const std::int64_t scales = bucket_ > 0 ? (d - 1) / bucket_ + 1 : 0;
    const Bytes message{packed(d, bits_).count() + 4 * scales};
    const KernelCosts& costs = *problem.kernels;
    Time encode = costs.of(scales > 0 ? kernels::quantize(d, bits_) : kernels::encode(d, bits_));
    if (residual_) encode += costs.of(kernels::add_residual(d)) + costs.of(kernels::keep_residual(d));
    return {ExchangeStage::kernel("encode", encode),
            ExchangeStage::send("all-gather", CollectiveKind::all_gather, Bytes{message.count() * problem.workers}),
            ExchangeStage::kernel("decode", costs.of(kernels::decode_sum(d, bits_, problem.workers)))};
  }

 private:
  std::int64_t bits_, bucket_;
  bool residual_;
};

constexpr std::int64_t kWholeGroup = INT64_MAX;

}  // namespace

std::unique_ptr<GradientCodec> make_fp16(const Parameters&, const PolicyContext&) {
  return std::make_unique<Fp16>();
}

std::unique_ptr<GradientCodec> make_qsgd(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<GatheredBits>(parameters.get<std::int64_t>("bits"), parameters.get<std::int64_t>("bucket"),
                                        false);
}

std::unique_ptr<GradientCodec> make_terngrad(const Parameters&, const PolicyContext&) {
  return std::make_unique<GatheredBits>(2, kWholeGroup, false);
}

std::unique_ptr<GradientCodec> make_sign_sgd(const Parameters&, const PolicyContext&) {
  return std::make_unique<GatheredBits>(1, 0, false);
}

std::unique_ptr<GradientCodec> make_ef_sign_sgd(const Parameters&, const PolicyContext&) {
  return std::make_unique<GatheredBits>(1, kWholeGroup, true);
}

}  // namespace contend
