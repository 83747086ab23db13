#include "models/parallel/operators.hpp"

namespace contend {

TransformerOperator piece_of(const TransformerOperator& whole, int pieces) {
  TransformerOperator piece = whole;
  double again = 0;  // share of the bytes that every piece moves
  if (whole.kind == OperatorKind::product) {
    const double weights = static_cast<double>(whole.n) * static_cast<double>(whole.k);
    again = weights / (static_cast<double>(whole.m) * static_cast<double>(whole.n + whole.k) + weights);
  } else if (whole.kind == OperatorKind::fused_attention) {
    const double queries = static_cast<double>(whole.m) * static_cast<double>(whole.count);
    again = queries / (queries + static_cast<double>(whole.n) * static_cast<double>(whole.key_heads));
  }
  std::int64_t& cut = whole.kind == OperatorKind::fused_attention ? piece.n : piece.m;
  cut = (cut + pieces - 1) / pieces;
  for (LayerWork* work : {&piece.forward, &piece.input_gradient, &piece.weight_gradient}) {
    work->flops /= pieces;
    work->bytes *= again + (1 - again) / pieces;
  }
  return piece;
}

TransformerOperator merge_of_attention(const MicroBatch& work, std::int64_t width, std::int64_t key_width,
                                       std::optional<int> gradient_bytes) {
  constexpr double kFloatBytes = 4;
  const double tokens = static_cast<double>(work.context_tokens()),
               value = static_cast<double>(activation_bytes(work.type));
  TransformerOperator merge;
  merge.part = LayerPart::core_attention;
  merge.name = "merge";
  merge.m = work.context_tokens();
  merge.n = width;
  merge.forward = {0, tokens * static_cast<double>(width) * (2 * kFloatBytes + value), 1};
  const double sums = 2 * static_cast<double>(gradient_bytes.value_or(activation_bytes(work.type)));
  merge.input_gradient = {0, tokens * static_cast<double>(width + key_width) * (sums + value), 2};
  return merge;
}

}  // namespace contend
