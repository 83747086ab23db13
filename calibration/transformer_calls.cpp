#include "calibration/transformer_calls.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace contend {

namespace {

class TransformerSplitter {
 public:
  explicit TransformerSplitter(const TransformerOperator& each) : each_{each} {}

  TransformerCalls split() {
    const std::int64_t count = each_.count, m = each_.m, n = each_.n, k = each_.k;
    switch (each_.kind) {
      case OperatorKind::product:
        call(calls_.forward, each_.type == DataType::fp8 ? "gemm_fast_sums" : product(), {count, m, n, k});
        call(calls_.input_gradient, product() == "gemm" ? "gemm_nn" : product(), {count, m, k, n});
        // Of a group, the rows of this product are the rows of the weights.
        call(calls_.weight_gradient, "gemm_tn", {count, n, k, m});
        break;
      case OperatorKind::attention_scores:
        call(calls_.forward, "gemm", {count, m, n, k});
        call(calls_.input_gradient, "gemm_nn", {count, m, k, n});
        call(calls_.input_gradient, "gemm_tn", {count, n, k, m});
        break;
      case OperatorKind::attention_context:
        call(calls_.forward, "gemm_nn", {count, m, k, n});
        call(calls_.input_gradient, "gemm", {count, m, n, k});
        call(calls_.input_gradient, "gemm_tn", {count, n, k, m});
        break;
      case OperatorKind::fused_attention:
        attention(calls_.forward, "attention", each_.forward.flops);
        attention(calls_.input_gradient, "attention_backward", each_.input_gradient.flops);
        break;
      case OperatorKind::softmax:
        call(calls_.forward, "softmax", {m, n});
        call(calls_.input_gradient, "softmax_backward", {m, n});
        break;
      case OperatorKind::norm:
        both(each_.measured_as.empty() ? "layer_norm" : each_.measured_as);
        break;
      case OperatorKind::embedding:
        call(calls_.forward, "embedding", {k, n, m});
        call(calls_.weight_gradient, "embedding_backward", {k, n, m});
        break;
      case OperatorKind::elementwise:
        elementwise();
        break;
    }
    return std::move(calls_);
  }

 private:
  [[nodiscard]] std::string_view product() const {
    // A group in a number format in which no groups are measured is a batch.
    const OperatorInfo* const info = each_.measured_as.empty() ? nullptr : find_operator(each_.measured_as);
    const bool measured =
        info != nullptr && std::find(info->types.begin(), info->types.end(), each_.type) != info->types.end();
    return measured ? info->name : "gemm";
  }

  OperatorCall& call(PassOperators& pass, std::string_view name, OperatorShape shape) {
    pass.calls.push_back(operator_call(name, each_.type, std::move(shape)));
    return pass.calls.back();
  }

  void both(std::string_view name) {
    call(calls_.forward, name, {each_.m, each_.n});
    call(calls_.input_gradient, std::string{name} + "_backward", {each_.m, each_.n});
  }

  void elementwise() {
    if (each_.measured_as == "swiglu") {
      both("swiglu");
    } else if (each_.measured_as == "cross_entropy") {
      // One kernel does both; the backward pass has nothing left to do.
      call(calls_.forward, "cross_entropy", {each_.m, each_.n});
      call(calls_.input_gradient, "cross_entropy", {each_.m, each_.n}).share = 0;
    } else if (each_.measured_as == "rope") {
      call(calls_.forward, "rope", {each_.m, each_.n});
      call(calls_.input_gradient, "rope", {each_.m, each_.n});
    } else if (each_.measured_as == "cast_transpose") {
      cast(calls_.forward, each_.forward);
      cast(calls_.input_gradient, each_.input_gradient);
    } else {
      calls_.forward.rest.push_back(each_.forward);
      calls_.input_gradient.rest.push_back(each_.input_gradient);
    }
    for (OperatorCall& made : calls_.forward.calls) made.otherwise = each_.forward;
    for (OperatorCall& made : calls_.input_gradient.calls) made.otherwise = each_.input_gradient;
  }

  /// All tensors of a pass as one of the operator's width: a cast takes as long for any shape.
  void cast(PassOperators& pass, const LayerWork& work) {
    const double moved = find_operator("cast_transpose")->work(OperatorShape{1, each_.n}, each_.type).bytes;
    const auto rows = static_cast<std::int64_t>(std::llround(work.bytes / moved));
    call(pass, "cast_transpose", {std::max<std::int64_t>(rows, 1), each_.n});
  }

  /// What is measured is attention of a sequence to itself. Queries of a part of it take their share of the flops.
  void attention(PassOperators& pass, const std::string& name, double flops) {
    const std::int64_t key_heads = each_.key_heads > 0 ? each_.key_heads : each_.count;
    OperatorCall& one =
        call(pass, each_.causal ? "causal_" + name : name, {1, each_.count, key_heads, each_.n, each_.k});
    // Layers count half of the scores under a mask; a sequence of n has (n + 1) / 2n of them.
    const double all = find_operator(name)->work(one.shape, one.type).flops * (each_.causal ? 0.5 : 1);
    one.share = flops / all;
  }

  const TransformerOperator& each_;
  TransformerCalls calls_;
};

}  // namespace

TransformerCalls transformer_calls(const TransformerOperator& each) {
  return TransformerSplitter{each}.split();
}

}  // namespace contend
