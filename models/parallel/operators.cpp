#include "models/parallel/operators.hpp"

#include "models/parallel/adapter_operators.hpp"
#include "models/parallel/rank_operators.hpp"
#include "sim/complaints.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

void append(std::vector<TransformerOperator>& all, std::vector<TransformerOperator> more) {
  all.insert(all.end(), more.begin(), more.end());
}

void check_type(const char* key, DataType type, Complaints& found) {
  if (type == DataType::int8) found.add(key, "int8 is for inference only; training needs another type");
}

}  // namespace

std::string_view to_string(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::product:
      return "product";
    case OperatorKind::fused_attention:
      return "fused attention";
    case OperatorKind::attention_scores:
      return "attention scores";
    case OperatorKind::attention_context:
      return "attention context";
    case OperatorKind::softmax:
      return "softmax";
    case OperatorKind::norm:
      return "norm";
    case OperatorKind::elementwise:
      return "elementwise";
    case OperatorKind::embedding:
      return "embedding";
  }
  return "unknown";
}

std::string_view to_string(LayerPart part) {
  switch (part) {
    case LayerPart::attention:
      return "attention";
    case LayerPart::core_attention:
      return "core attention";
    case LayerPart::feed_forward:
      return "feed-forward";
    case LayerPart::router:
      return "router";
    case LayerPart::experts:
      return "experts";
    case LayerPart::shared_experts:
      return "shared experts";
    case LayerPart::combination:
      return "combination";
    case LayerPart::embedding:
      return "embedding";
    case LayerPart::head:
      return "head";
  }
  return "unknown";
}

void validate(const TransformerModel& model, const MicroBatch& work) {
  Complaints found;
  found.collect([&] { validate(model, work.split); });
  found.throw_if_any();
  constexpr std::int64_t kMostSequences = 1 << 20;
  if (work.sequences < 1 || work.sequences > kMostSequences)
    found.add("sequences", fmt::format("expected 1 to {}, got {}", kMostSequences, work.sequences));
  found.collect([&] { validate_sequence(work.sequence, work.split); });
  if (model.positions > 0 && work.sequence > model.positions)
    found.add("sequence", fmt::format("expected at most {} tokens, the positions of {}, got {}", model.positions,
                                      model.name, work.sequence));
  constexpr double kMostTokens = 0x1p40;
  if (as_real(work.sequences) * as_real(work.sequence) > kMostTokens)
    found.add("sequences", fmt::format("expected at most 2^40 tokens in a micro-batch, got {} sequences of {}",
                                       work.sequences, work.sequence));
  if (!(work.expert_imbalance >= 1 && std::isfinite(work.expert_imbalance)))
    found.add("expert_imbalance", fmt::format("expected a number of at least 1, got {}", work.expert_imbalance));
  check_type("type", work.type, found);
  check_type("router_type", work.router_type, found);
  found.throw_if_any();
}

double arrived_tokens(const TransformerModel& model, const MicroBatch& work) {
  if (!model.mixture) return 0;
  return as_real(work.tokens()) * as_real(model.mixture->top_k * work.split.expert_tensor) * work.expert_imbalance;
}

std::vector<TransformerOperator> transformer_operators(const TransformerModel& model, std::int64_t layer,
                                                       const MicroBatch& work) {
  RankOperators operators{model, work};
  operators.layer(layer);
  return with_backward_cut(model, work.trained, layer, operators.take());
}

std::vector<TransformerOperator> embedding_operators(const TransformerModel& model, const MicroBatch& work) {
  RankOperators operators{model, work};
  operators.embedding();
  return with_backward_cut(model, work.trained, TrainedPart::kEmbedding, operators.take());
}

std::vector<TransformerOperator> head_operators(const TransformerModel& model, const MicroBatch& work) {
  RankOperators operators{model, work};
  operators.head();
  return with_backward_cut(model, work.trained, TrainedPart::kHead, operators.take());
}

std::vector<TransformerOperator> mtp_operators(const TransformerModel& model, const MicroBatch& work) {
  RankOperators operators{model, work};
  operators.prediction_module();
  // If nothing in front of the head is trained, nothing needs gradients of the module.
  return with_backward_cut(model, work.trained, TrainedPart::kHead, operators.take());
}

std::vector<TransformerOperator> stage_operators(const TransformerModel& model, const LayerRange& stage,
                                                 const MicroBatch& work) {
  std::vector<TransformerOperator> all;
  if (stage.embedding) append(all, embedding_operators(model, work));
  for (std::int64_t i = stage.first; i < stage.last; ++i) append(all, transformer_operators(model, i, work));
  if (stage.head) {
    append(all, head_operators(model, work));
    for (std::int64_t i = 0; i < model.mtp_layers; ++i) append(all, mtp_operators(model, work));
  }
  return all;
}

}  // namespace contend
