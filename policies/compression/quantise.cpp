// Quantisation encodes each value with a few bits.
//
// - An all-reduce can add up fp16 (Micikevicius et al., ICLR 2018).
// - Every worker gathers the codes of all workers in QSGD (Alistarh et al., NeurIPS 2017), TernGrad (Wen et al.,
//   NeurIPS 2017), and Sign-SGD with majority vote (Bernstein et al., ICLR 2019) or error feedback (Karimireddy et al.,
//   ICML 2019).
// - The other methods have a quantised all-reduce in two halves: worker j receives chunk j of every worker, adds the
//   chunks up and encodes the sum; then all workers gather the sums. ByteGrad (Gan et al., BAGUA, VLDB 2022) uses 8
//   bits and a range for each chunk. 1-bit Adam (Tang et al., ICML 2021) and APMSqueeze (Tang et al., arXiv 2008.11343)
//   use signs, a scale for each chunk and residuals at both ends, after a warm-up in full precision. QAdam (BAGUA) has
//   such a warm-up and sends the momentum in 8 bits. With `hierarchical` they sum in full precision inside servers and
//   run the two halves among one worker of each server, as BAGUA does.
//
// With parameter servers, workers push codes; the servers decode and add them up, and workers pull the encoded sum. The
// servers' decoding costs network.gamma for each byte that they receive.

#include "policies/compression/kernels.hpp"
#include "policies/compression/levels.hpp"
#include "policies/compression/routes.hpp"
#include "policies/registry.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <cstdint>

namespace contend {

namespace {

struct CodeFormat {
  std::int64_t bits = 8;
  std::int64_t header_bytes = 0;    ///< scale or range of each bucket; 0: each value is encoded on its own
  std::int64_t bucket = INT64_MAX;  ///< values that share a header
  bool residual = false;            ///< what a code leaves out is added to the next gradient
  bool deepspeed = false;           ///< DeepSpeed's kernels, not one pass over the values
  MessageRoute usual = MessageRoute::all_gather;
  bool hierarchical = false;  ///< one worker of each server exchanges for all of its workers
};

class FixedWidthMethod : public CompressionMethod {
 public:
  explicit FixedWidthMethod(const CodeFormat& format) : format_{format} {}

  [[nodiscard]] std::optional<RouteRefusal> refusal(MessageRoute route) const override {
    if (format_.hierarchical && route != MessageRoute::usual)
      return RouteRefusal{"its leaders have collectives of their own", "hierarchical: false"};
    if (route == MessageRoute::all_reduce && format_.usual != MessageRoute::all_reduce) return refuse_few_bits();
    return std::nullopt;
  }

  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const Circle circle = circle_of(problem, format_.hierarchical);
    const std::int64_t d = problem.elements(group);
    if (!format_.hierarchical) return in_circle(problem, d, circle);
    return through_leaders(problem.size(group),
                           circle.workers > 1 ? in_circle(problem, d, circle) : std::vector<ExchangeStage>{});
  }

 private:
  [[nodiscard]] std::vector<ExchangeStage> in_circle(const OverlapProblem& problem, std::int64_t d,
                                                     const Circle& circle) const {
    const std::int64_t n = circle.workers, chunk = (d + n - 1) / n;
    const auto send = [&](const char* what, CollectiveKind kind, Bytes bytes) {
      return ExchangeStage::send(what, kind, bytes, circle.scope);
    };
    const auto add_up = [&](std::int64_t values) {
      return problem.kernels->of(format_.deepspeed ? kernels::sum_of_deepspeed(values, circle.workers)
                                                   : kernels::decode_sum(values, format_.bits, circle.workers));
    };
    const ExchangeStage encoded = ExchangeStage::kernel("encode", encode(problem, d, circle.workers));
    const ExchangeStage decoded = ExchangeStage::kernel(
        "decode",
        problem.kernels->of(format_.deepspeed ? kernels::unpack_of_deepspeed(d) : kernels::decode(d, format_.bits)));
    switch (problem.route(format_.usual)) {
      case MessageRoute::all_reduce:
        return {encoded, send("all-reduce", CollectiveKind::all_reduce, message(d)), decoded};
      case MessageRoute::all_gather:
        return {encoded, send("all-gather", CollectiveKind::all_gather, message(d) * n),
                ExchangeStage::kernel("decode", add_up(d))};
      case MessageRoute::scatter_gather:
        return {encoded, send("all-to-all", CollectiveKind::all_to_all, message(chunk) * n),
                ExchangeStage::kernel("add up", add_up(chunk) + encode(problem, chunk, circle.workers)),
                send("all-gather", CollectiveKind::all_gather, message(chunk) * n), decoded};
      case MessageRoute::server:
        return {encoded, send("push", CollectiveKind::reduce, message(d)),
                send("pull", CollectiveKind::broadcast, message(d)), decoded};
      case MessageRoute::usual:
        break;
    }
    check_failed(__FILE__, __LINE__, "a route is chosen", "");
  }

  [[nodiscard]] Bytes message(std::int64_t d) const {
    return Bytes{(d * format_.bits + 7) / 8 + format_.header_bytes * ((d - 1) / format_.bucket + 1)};
  }

  [[nodiscard]] Time encode(const OverlapProblem& problem, std::int64_t d, int workers) const {
    const KernelCosts& costs = *problem.kernels;
    if (format_.deepspeed) return costs.of(kernels::signs_of_deepspeed(d, workers));
    const bool blind = format_.header_bytes == 0;
    const Time code = costs.of(blind ? kernels::encode(d, format_.bits) : kernels::quantize(d, format_.bits));
    return format_.residual ? costs.of(kernels::add_residual(d)) + code + costs.of(kernels::keep_residual(d)) : code;
  }

  CodeFormat format_;
};

class Fp16 final : public FixedWidthMethod {
 public:
  Fp16() : FixedWidthMethod{{.bits = 16, .usual = MessageRoute::all_reduce}} {}
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    if (problem.gradient_element_bytes <= 2) throw InputError{"the gradients are two bytes wide already"};
    return FixedWidthMethod::stages(problem, group);
  }
};

/// Phase 0 is the warm-up, in full precision and never hierarchical (as in BAGUA:
/// bagua/torch_api/algorithms/q_adam.py).
class WarmedUp : public FixedWidthMethod {
 public:
  WarmedUp(double warm_up, const CodeFormat& after) : FixedWidthMethod{after}, warm_up_{warm_up} {}
  [[nodiscard]] IterationPhases phases() const override { return IterationPhases::warm_up(warm_up_); }
  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    if (problem.phase > 0) return FixedWidthMethod::stages(problem, group);
    std::vector<ExchangeStage> warm_up;
    if (problem.route(MessageRoute::all_reduce) == MessageRoute::server) {
      add_up_values(problem, problem.elements(group), "", warm_up);
    } else {  // uncompressed messages are all-reduced, whatever route compressed ones take
      warm_up.push_back(ExchangeStage::send("all-reduce", CollectiveKind::all_reduce, problem.size(group)));
    }
    return warm_up;
  }

 private:
  double warm_up_;
};

/// Computes the momentum from the gradients and sends it instead of them.
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

CodeFormat in_bytes(const Parameters& parameters) {
  return {.bits = 8,
          .header_bytes = 8,
          .usual = MessageRoute::scatter_gather,
          .hierarchical = parameters.get<bool>("hierarchical")};
}

CodeFormat in_signs(const Parameters& parameters) {
  return {.bits = 1,
          .header_bytes = 4,
          .residual = true,
          .usual = MessageRoute::scatter_gather,
          .hierarchical = parameters.get<bool>("hierarchical")};
}

std::unique_ptr<CompressionMethod> coded(const CodeFormat& format) {
  return std::make_unique<FixedWidthMethod>(format);
}

constexpr ParameterInfo kWarmedUp[] = {{"warm_up", 0.15, 0, 1, "share of the iterations in full precision"},
                                       kInServers};

std::unique_ptr<CompressionMethod> make_qsgd(const Parameters& parameters, const PolicyContext&) {
  return coded({.bits = parameters.get<std::int64_t>("bits"),
                .header_bytes = 4,
                .bucket = parameters.get<std::int64_t>("bucket")});
}

std::unique_ptr<CompressionMethod> make_terngrad(const Parameters&, const PolicyContext&) {
  return coded({.bits = 2, .header_bytes = 4});
}

std::unique_ptr<CompressionMethod> make_sign_sgd(const Parameters&, const PolicyContext&) {
  return coded({.bits = 1});
}

std::unique_ptr<CompressionMethod> make_ef_sign_sgd(const Parameters&, const PolicyContext&) {
  return coded({.bits = 1, .header_bytes = 4, .residual = true});
}

std::unique_ptr<CompressionMethod> make_byte_grad(const Parameters& parameters, const PolicyContext&) {
  return coded(in_bytes(parameters));
}

std::unique_ptr<CompressionMethod> make_one_bit_adam(const Parameters& parameters, const PolicyContext&) {
  CodeFormat format = in_signs(parameters);
  format.deepspeed = !parameters.get<bool>("fused");
  return std::make_unique<WarmedUp>(parameters.get<double>("warm_up"), format);
}

std::unique_ptr<CompressionMethod> make_apm_squeeze(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<WarmedUp>(parameters.get<double>("warm_up"), in_signs(parameters));
}

std::unique_ptr<CompressionMethod> make_q_adam(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<QAdam>(parameters.get<double>("warm_up"), in_bytes(parameters));
}

}  // namespace

PolicyRow<CompressionMethod> fp16_compression() {
  return {.name = "fp16",
          .summary = "cast to half precision and all-reduced",
          .source = "Micikevicius et al., ICLR 2018",
          .make = make_own<CompressionMethod, Fp16>};
}

PolicyRow<CompressionMethod> qsgd_compression() {
  static constexpr ParameterInfo kParameters[] = {
      {"bits", std::int64_t{8}, 2, 16, "bits of a value, sign included"},
      {"bucket", std::int64_t{512}, 1, 1e12, "values that share a norm of 4 bytes"}};
  return {.name = "qsgd",
          .summary = "random rounding to a few levels; all-gathered",
          .source = "Alistarh et al., NeurIPS 2017",
          .parameters = kParameters,
          .make = make_qsgd};
}

PolicyRow<CompressionMethod> terngrad_compression() {
  return {.name = "terngrad",
          .summary = "-1, 0 or 1 and a scale; all-gathered",
          .source = "Wen et al., NeurIPS 2017",
          .make = make_terngrad};
}

PolicyRow<CompressionMethod> sign_sgd_compression() {
  return {.name = "sign-sgd",
          .summary = "signs, all-gathered, and a majority vote",
          .source = "Bernstein et al., ICLR 2019",
          .make = make_sign_sgd};
}

PolicyRow<CompressionMethod> ef_sign_sgd_compression() {
  return {.name = "ef-sign-sgd",
          .summary = "signs and a scale, all-gathered, with error feedback",
          .source = "Karimireddy et al., ICML 2019",
          .make = make_ef_sign_sgd};
}

PolicyRow<CompressionMethod> byte_grad_compression() {
  static constexpr ParameterInfo kParameters[] = {kInServers};
  return {.name = "byte-grad",
          .summary = "8 bits in an all-to-all and an all-gather",
          .source = "Gan et al., VLDB 2022 (BAGUA)",
          .parameters = kParameters,
          .make = make_byte_grad};
}

PolicyRow<CompressionMethod> onebit_adam_compression() {
  static constexpr ParameterInfo kParameters[] = {
      kWarmedUp[0],
      kWarmedUp[1],
      {"fused", false, 0, 0, "each value is read and written as rarely as possible; false: kernels of DeepSpeed"}};
  return {.name = "onebit-adam",
          .summary = "after a warm-up, signs in an all-to-all and an all-gather",
          .source = "Tang et al., ICML 2021",
          .parameters = kParameters,
          .make = make_one_bit_adam};
}

PolicyRow<CompressionMethod> apm_squeeze_compression() {
  static constexpr ParameterInfo kParameters[] = {
      {"warm_up", 0.15, 0, 1, "share of the iterations in full precision; assumption: the share of onebit-adam"},
      kInServers};
  return {.name = "apm-squeeze",
          .summary = "as onebit-adam, with momentum preconditioned by the warm-up",
          .source = "Tang et al., arXiv 2008.11343",
          .parameters = kParameters,
          .make = make_apm_squeeze};
}

PolicyRow<CompressionMethod> q_adam_compression() {
  return {.name = "q-adam",
          .summary = "after a warm-up, the momentum in 8 bits, as in byte-grad",
          .source = "Gan et al., VLDB 2022 (BAGUA)",
          .parameters = kWarmedUp,
          .make = make_q_adam};
}

}  // namespace contend
