#include "models/parallel/operators.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

namespace {

/// A product of fewer columns.
TransformerOperator narrowed(TransformerOperator product, std::int64_t columns) {
  const auto rows = static_cast<double>(product.m), inner = static_cast<double>(product.k);
  const auto kept = static_cast<double>(columns);
  product.forward.flops *= kept / static_cast<double>(product.n);
  product.forward.bytes = (rows * (kept + inner) + kept * inner) * static_cast<double>(activation_bytes(product.type));
  product.n = columns;
  return product;
}

/// What a layer computes again if attention and every second product are kept.
std::vector<TransformerOperator> every_second_product(std::span<const TransformerOperator> operators) {
  std::vector<TransformerOperator> again;
  std::int64_t query_columns = 0;  // as many as the output has rows
  bool is_gated = false;
  for (const TransformerOperator& each : operators) {
    if (each.name == "output") query_columns = each.k;
    is_gated = is_gated || each.measured_as == "swiglu";
  }
  for (const TransformerOperator& each : operators) {
    if (each.part == LayerPart::core_attention) continue;
    if (each.name == "qkv") {
      again.push_back(narrowed(each, (each.n - query_columns) / 2));
    } else if (each.name == "up" && is_gated) {
      again.push_back(narrowed(each, each.n / 2));
    } else if (each.kind != OperatorKind::product || each.name == "output") {
      if (each.name != "feed_forward_sum") again.push_back(each);  // nothing needs it again
    }
  }
  return again;
}

}  // namespace

std::vector<TransformerOperator> recomputed_operators(std::span<const TransformerOperator> operators,
                                                      Recomputation mode) {
  if (mode == Recomputation::operators) return every_second_product(operators);
  std::vector<TransformerOperator> again;
  for (const TransformerOperator& each : operators)
    if (repeats(mode, each.modules)) again.push_back(each);
  return again;
}

bool may_keep_operators(const TransformerModel& model) {
  const bool is_plain = model.kinds.empty() && model.has_attention() && model.gate_width == 0 && !model.parallel &&
                        model.projected_width() == model.query_width() + model.key_width() + model.value_width();
  return is_plain && !model.latent && !model.mixture && model.encoder_layers == 0;
}

}  // namespace contend
