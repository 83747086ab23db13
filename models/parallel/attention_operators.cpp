#include "models/parallel/rank_operators.hpp"

#include <utility>

namespace contend {

void RankOperators::attention(bool causal) {
  part_ = LayerPart::attention;
  norms(kind_->attention_norms, "attention_norm", [&] {
    if (kind_->recurrence) return recurrence(*kind_->recurrence);
    if (kind_->latent)
      latent_projections(*kind_->latent);
    else
      head_projections();
    if (kind_->index) index_projections(*kind_->index);
    core_attention(causal);
    if (kind_->gate_width > 0) pointwise("output_gate", all_, kind_->context_width() / split_.tensor, 3, 5);
    output("output");
  });
  // A feed-forward beside attention adds both outputs at once.
  if (!kind_->parallel) residual("attention_sum", 2);
}

void RankOperators::output(std::string_view name) {
  const std::int64_t width = kind_->context_width() / split_.tensor;
  if (!kind_->latent || kind_->latent->output_groups == 0)
    return product(name, 1, all_, model_.hidden, width, work_.type);
  const std::int64_t groups = std::max<std::int64_t>(1, kind_->latent->output_groups / split_.tensor);
  product("output_groups", groups, all_, kind_->latent->output_rank, width / groups, work_.type);
  product(name, 1, all_, model_.hidden, groups * kind_->latent->output_rank, work_.type);
}

bool RankOperators::is_rotary() const {
  return kind_->rotates && model_.positions == 0 && model_.relative_buckets == 0;
}

std::int64_t RankOperators::turned_heads() const {
  return (kind_->heads + (kind_->shares_keys ? 0 : kind_->key_value_heads)) / split_.tensor;
}

void RankOperators::head_projections() {
  product("qkv", 1, all_, kind_->projected_width() / split_.tensor, model_.hidden, work_.type);
  if (kind_->gated) sum_of_gradients("qkv_gradients", 3);
  if (kind_->query_key_norms && kind_->wide_norms)
    norm("query_key_norms", all_, turned_heads() * kind_->head_size);
  else if (kind_->query_key_norms)
    norm("query_key_norms", all_ * turned_heads(), kind_->head_size);
  if (is_rotary()) rotary(turned_heads() * kind_->head_size);
}

/// Every rank makes the short vectors of its own tokens, and its heads from the short vectors of all tokens.
void RankOperators::latent_projections(const LatentAttention& latent) {
  const std::int64_t heads = kind_->heads / split_.tensor;
  const std::int64_t query = heads * latent.query_size();
  if (latent.query_rank > 0) {
    product("query_down", 1, own_, latent.query_rank, model_.hidden, work_.type);
    norm("query_norm", own_, latent.query_rank);
    within(Recomputation::mla_up_proj, [&] { product("query_up", 1, all_, query, latent.query_rank, work_.type); });
  } else {
    within(Recomputation::mla_up_proj, [&] { product("query", 1, all_, query, model_.hidden, work_.type); });
  }
  product("key_value_down", 1, own_, latent.key_value_rank + latent.rotary_size, model_.hidden, work_.type);
  norm("key_value_norm", own_, latent.key_value_rank);
  if (latent.compressed_tokens > 0) {
    // Of each token its share of one key or, where they overlap, of two, with a weight for each number.
    const std::int64_t columns = 2 * (latent.overlapping ? 2 : 1) * latent.query_size();
    product("compression", 1, own_, columns, model_.hidden, work_.type);
    pointwise("compressed_keys", own_, columns, 1, 2);
  }
  within(Recomputation::mla_up_proj, [&] {
    if (!latent.shared_by_heads)
      product("key_value_up", 1, all_, heads * (latent.plain_size + latent.value_size), latent.key_value_rank,
              work_.type);
    rotary((heads + 1) * latent.rotary_size);
    if (latent.shared_by_heads) return;
    // Each head gets its key with the rotary part that all share, and its value by itself; backward their gradients.
    pointwise("key_value_heads", all_, heads * (2 * (latent.plain_size + latent.value_size) + latent.rotary_size), 1,
              1);
  });
}

/// What chooses keys; every rank chooses for its own tokens.
void RankOperators::index_projections(const SparseIndex& index) {
  const LatentAttention* const latent = kind_->latent ? &*kind_->latent : nullptr;
  const std::int64_t input = latent != nullptr && latent->query_rank > 0 ? latent->query_rank : model_.hidden;
  product("index_queries", 1, own_, index.heads * index.size, input, work_.type);
  const std::int64_t shares = latent != nullptr && latent->compressed_tokens > 0 ? (latent->overlapping ? 4 : 2) : 1;
  product("index_keys", 1, own_, shares * index.size + index.heads, model_.hidden, work_.type);
  rotary((index.heads + 1) * index.size);
  const LayerPart outer = std::exchange(part_, LayerPart::core_attention);
  // A score of each head with each key, and their weighted sum in fp32, out of which the largest are taken.
  const std::int64_t every = latent != nullptr ? std::max<std::int64_t>(1, latent->compressed_tokens) : 1;
  const std::int64_t keys = std::max<std::int64_t>(1, work_.sequence / every);
  const double pairs = as_real(own_) * as_real(keys) * (work_.skip_masked ? 0.5 : 1);
  const double flops = 2 * pairs * as_real(index.heads * index.size);
  const double vectors = (as_real(own_) * as_real(index.heads) + as_real(keys)) * as_real(index.size) * width_;
  TransformerOperator& each = shaped(OperatorKind::product, "index_scores", 1, own_, keys, index.heads * index.size);
  each.forward = {flops, vectors + 4 * pairs, 1};
  each.input_gradient = {2 * flops, 2 * vectors + 4 * pairs, 2};
  TransformerOperator& choice = add(OperatorKind::elementwise, "index_choice", own_, keys);
  choice.forward = {0, 4 * pairs, 1};
  part_ = outer;
}

void RankOperators::rotary(std::int64_t width) {
  if (work_.pointwise != PointwiseKernels::fused) {
    // To fp32, a product of complex numbers, and back; so are the gradients.
    return separate("rotary", as_real(all_) * as_real(width), {16, 2, 3}, {16, 2, 3});
  }
  pointwise("rotary", all_, width, 2, 2);
  operators_.back().measured_as = "rope";
}

void RankOperators::cross_attention() {
  part_ = LayerPart::attention;
  norm("cross_norm", own_, model_.hidden);
  product("cross_query", 1, all_, kind_->query_width() / split_.tensor, model_.hidden, work_.type);
  product("cross_key_value", 1, all_, (kind_->key_width() + kind_->value_width()) / split_.tensor, model_.hidden,
          work_.type);
  core_attention(false);
  output("cross_output");
  residual("cross_sum", 2);
}

/// The queries of this rank's tokens to the keys of the whole sequence, which come from all context ranks.
void RankOperators::core_attention(bool causal) {
  if (work_.pointwise != PointwiseKernels::fused && kind_->key_value_heads < kind_->heads && !kind_->latent) {
    // Every query head gets a key and a value of its own; backward their gradients are added up.
    const double written =
        as_real(all_) * as_real(kind_->query_width() + kind_->context_width()) / as_real(split_.tensor);
    const double read = written * as_real(kind_->key_value_heads) / as_real(kind_->heads);
    separate("repeated_keys_values", written + read, {0, 1, 2}, {0, 1, 2});
  }
  const LayerPart outer = std::exchange(part_, LayerPart::core_attention);
  if (work_.flash_attention)
    fused_attention(causal);
  else
    plain_attention();
  modules_ = Recomputation::rest;
  part_ = outer;
}

RankOperators::AttentionTensors RankOperators::attention_tensors() const {
  const double tokens = as_real(all_), all_keys = as_real(work_.sequences * work_.sequence);
  const double tensor = as_real(split_.tensor);
  const double of_keys = kind_->latent && kind_->latent->shared_by_heads ? 1 : tensor;  // ranks that share them
  AttentionTensors all;
  all.heads = work_.sequences * kind_->heads / split_.tensor;
  all.queries = work_.sequence / split_.context;
  all.keys = work_.sequence;
  all.query_size = kind_->query_width() / kind_->heads;
  all.value_size = kind_->context_width() / kind_->heads;
  all.query = tokens * as_real(kind_->query_width()) / tensor * width_;
  all.key = all_keys * as_real(kind_->key_width()) / of_keys * width_;
  all.value = all_keys * as_real(kind_->value_width()) / of_keys * width_;
  all.context = tokens * as_real(kind_->context_width()) / tensor * width_;
  // Both products multiply each query (weight) with each key (value) of its head.
  all.pairs = as_real(all.heads) * as_real(all.queries) * as_real(all.keys);
  all.score_flops = 2 * all.pairs * as_real(all.query_size);
  all.context_flops = 2 * all.pairs * as_real(all.value_size);
  return all;
}

void RankOperators::fused_attention(bool causal) {
  const AttentionTensors all = attention_tensors();
  const bool half = causal && work_.skip_masked;
  const double documents = work_.documents.empty() ? 1 : attention_of(work_.documents);
  // Neither keys that a window hides nor keys of other documents cost anything.
  const double part = std::min(documents * (half ? 0.5 : 1), kind_->seen_pairs(as_real(work_.sequence), half));
  const double logarithms = 4 * as_real(all.heads) * as_real(all.queries);  // of the sums of exponentials, in fp32
  TransformerOperator& each =
      shaped(OperatorKind::fused_attention, "attention", all.heads, all.queries, all.keys, all.query_size);
  each.key_heads = std::max<std::int64_t>(1, all.heads * kind_->key_width() / kind_->query_width());
  each.value_size = all.value_size;
  each.causal = half;
  const double tensors = all.query + all.key + all.value + all.context;
  each.forward = {part * (all.score_flops + all.context_flops), tensors + logarithms, 1};
  // The scores again, the gradients of weights and values from the context, the gradients of queries and keys.
  each.input_gradient = {part * (3 * all.score_flops + 2 * all.context_flops), 2 * tensors + logarithms, 1};
}

/// Scores and weights lie in memory, hidden ones too.
void RankOperators::plain_attention() {
  const AttentionTensors all = attention_tensors();
  modules_ = Recomputation::core_attn;
  const double scores = all.pairs * width_;
  TransformerOperator& first =
      shaped(OperatorKind::attention_scores, "scores", all.heads, all.queries, all.keys, all.query_size);
  first.forward = {all.score_flops, all.query + all.key + scores, 1};
  first.input_gradient = {2 * all.score_flops, 2 * (all.query + all.key + scores), 2};
  TransformerOperator& softmax = shaped(OperatorKind::softmax, "softmax", 1, all.heads * all.queries, all.keys, 0);
  softmax.forward = {0, 2 * scores, 1};
  softmax.input_gradient = {0, 3 * scores, 1};
  if (model_.dropout) dropout("attention_dropout", all.heads * all.queries, all.keys);
  TransformerOperator& second =
      shaped(OperatorKind::attention_context, "context", all.heads, all.queries, all.keys, all.value_size);
  second.forward = {all.context_flops, scores + all.value + all.context, 1};
  second.input_gradient = {2 * all.context_flops, 2 * (scores + all.value + all.context), 2};
}

void RankOperators::recurrence(const Recurrence& sizes) {
  const std::int64_t value = sizes.value_width() / split_.tensor;
  product("recurrence_input", 1, all_, sizes.input_width() / split_.tensor, model_.hidden, work_.type);
  if (sizes.gate_rank > 0) {
    product("gate_down", 1, own_, sizes.gate_rank, model_.hidden, work_.type);
    product("gate_up", 1, all_, value, sizes.gate_rank, work_.type);
  }
  if (sizes.decay_rank > 0) {
    product("decay_down", 1, own_, sizes.decay_rank, model_.hidden, work_.type);
    product("decay_up", 1, all_, sizes.key_width() / split_.tensor, sizes.decay_rank, work_.type);
  }
  // Reads and writes the channels; backward also their gradients.
  if (sizes.convolution > 0) pointwise("convolution", all_, sizes.channels() / split_.tensor, 2, 4);
  if (sizes.step_rank > 0) {
    product("step_input", 1, all_, sizes.step_rank + 2 * sizes.key_size, value, work_.type);
    product("step", 1, all_, value, sizes.step_rank, work_.type);
  }
  scan(sizes);
  // The output with its gate and its norm.
  if (sizes.gated || sizes.norm_size > 0) pointwise("recurrence_gate", all_, value, 3, 5);
  product("output", 1, all_, model_.hidden, value, work_.type);
}

/// Chunks of tokens are computed at once by products: of queries with the keys of their chunk, of these scores with
/// values, of keys with values for the state, of queries with the state (Dao and Gu, arXiv 2405.21060, section 6). By
/// the delta rule a triangular system of keys with keys is solved beside, and values and keys are its right sides (Yang
/// et al., arXiv 2412.06464, section 3.3). Kernels: ssd_combined.py of mamba_ssm, gated_delta_rule/chunk.py of
/// flash-linear-attention. Mamba's first form is one kernel without products.
void RankOperators::scan(const Recurrence& sizes) {
  const LayerPart outer = std::exchange(part_, LayerPart::core_attention);
  const double tensor = as_real(split_.tensor), tokens = as_real(all_), heads = as_real(sizes.heads) / tensor;
  const double value = as_real(sizes.head_size), key = as_real(sizes.key_size);
  const double chunk = as_real(std::min(sizes.chunk, work_.sequence));
  const double vectors = tokens * (2 * as_real(sizes.value_width()) + 2 * as_real(sizes.key_width())) / tensor * width_;
  if (sizes.step_rank > 0) {
    TransformerOperator& each = add(OperatorKind::elementwise, "scan", all_, sizes.value_width() / split_.tensor);
    each.forward = {0, 1.5 * vectors, 1};
    each.input_gradient = {0, 3 * vectors, 1};
  } else {
    double products = chunk * (key + value) + 2 * key * value;
    if (sizes.delta_rule) products += chunk * (2 * key + value + chunk) + key * value;
    const double flops = 2 * tokens * heads * products;
    const double states = 2 * 4 * tokens / chunk * as_real(sizes.state()) / tensor;
    const int kernels = sizes.delta_rule ? 6 : 5;
    const auto columns = static_cast<std::int64_t>(std::max(1.0, std::ceil(products / value)));
    const std::int64_t count = std::max<std::int64_t>(1, whole_rows(tokens * heads / chunk));
    TransformerOperator& each =
        shaped(OperatorKind::product, "scan", count, static_cast<std::int64_t>(chunk), sizes.head_size, columns);
    each.forward = {flops, vectors + states, kernels};
    each.input_gradient = {2 * flops, 2 * (vectors + states), 2 * kernels};
  }
  part_ = outer;
}

}  // namespace contend
