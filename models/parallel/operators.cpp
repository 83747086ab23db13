#include "models/parallel/operators.hpp"

#include "sim/complaints.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

double as_real(std::int64_t value) {
  return static_cast<double>(value);
}

/// Rows of a product that stands for unequal ones.
std::int64_t whole_rows(double rows) {
  return static_cast<std::int64_t>(std::min(std::ceil(rows), 0x1p62));
}

/// Collects the operators of one part of a model on one rank.
class RankOperators {
 public:
  RankOperators(const TransformerModel& model, const MicroBatch& work)
      : model_{model},
        work_{work},
        split_{work.split},
        width_{as_real(activation_bytes(work.type))},
        wide_{is_narrow(work.type) ? DataType::bf16 : work.type},
        all_{work.context_tokens()},
        own_{work.tokens()} {}

  std::vector<TransformerOperator> take() { return std::move(operators_); }

  void layer(std::int64_t index) {
    attention(model_.is_causal(index));
    if (model_.has_cross_attention(index)) cross_attention();
    if (model_.is_mixture(index)) {
      mixture(*model_.mixture);
    } else {
      part_ = LayerPart::feed_forward;
      layer_norm("feed_forward_norm");
      within(Recomputation::mlp,
             [&] { feed_forward(all_, 1, model_.feed_forward / split_.tensor, "up", "activation", "down"); });
      residual("feed_forward_sum", 2);
    }
  }

  void embedding() {
    part_ = LayerPart::embedding;
    TransformerOperator& look_up = add(OperatorKind::embedding, "look_up", all_, model_.hidden);
    look_up.k = vocabulary_rows(model_, split_);
    const double moved = 2 * as_real(all_) * as_real(model_.hidden) * width_;
    look_up.forward = {0, moved, 1};
    // The gradient of the table is dense: the rows are added into zeros.
    look_up.weight_gradient = {0, moved + as_real(look_up.k) * as_real(model_.hidden) * width_, 1};
    if (model_.positions > 0) sum("positions", 3);
    if (model_.token_types > 0) sum("token_types", 3);
    if (model_.embedding_norm) norm("embedding_norm", own_, model_.hidden);
    if (model_.dropout) dropout("embedding_dropout", own_, model_.hidden);
  }

  void head() {
    part_ = LayerPart::head;
    if (model_.final_norm) norm("final_norm", own_, model_.hidden);
    if (model_.pooler) product("pooler", 1, work_.sequences, model_.hidden, model_.hidden, wide_);
    logits();
  }

  void prediction_module() {
    part_ = LayerPart::head;
    norm("prediction_embedding_norm", own_, model_.hidden);
    norm("prediction_hidden_norm", own_, model_.hidden);
    pointwise("prediction_concatenation", own_, 2 * model_.hidden, 2, 2);
    product("prediction_input", 1, all_, divided(model_.hidden), 2 * model_.hidden, work_.type);
    layer(model_.all_layers() - 1);
    part_ = LayerPart::head;
    norm("final_norm", own_, model_.hidden);
    logits();
  }

 private:
  [[nodiscard]] std::int64_t divided(std::int64_t width) const { return (width + split_.tensor - 1) / split_.tensor; }

  /// The operands of a product are read with two bytes, and written with one twice: as they are and transposed, which
  /// the gradients need. Inputs and weights before the product, the gradients of the outputs before the gradients of
  /// both. In fp4 16 numbers of half a byte have a scale of one byte (NVIDIA, arXiv 2509.25149, section 2).
  void cast(double rows, double count, std::int64_t n, std::int64_t k, DataType type, int kernels) {
    const double moved = 2 + 2 * (type == DataType::fp4 ? 0.5 + 1.0 / 16 : 1);
    TransformerOperator& each = add(OperatorKind::elementwise, "cast", whole_rows(rows / count), k);
    each.measured_as = "cast_transpose";
    each.forward = {0, moved * (rows * as_real(k) + count * as_real(n) * as_real(k)), 2 * kernels};
    each.input_gradient = {0, moved * rows * as_real(n), kernels};
    each.kernels_of_group = kernels;
  }

  /// What `adds` adds is part of a module, too.
  template <class Adds>
  void within(Recomputation module, const Adds& adds) {
    const Recomputation outer = modules_;
    modules_ = outer == Recomputation::rest ? module : outer | module;
    adds();
    modules_ = outer;
  }

  TransformerOperator& add(OperatorKind kind, std::string_view name, std::int64_t m, std::int64_t n) {
    TransformerOperator each;
    each.kind = kind;
    each.part = part_;
    each.modules = modules_;
    each.name = name;
    each.type = wide_;
    each.m = m;
    each.n = n;
    operators_.push_back(each);
    return operators_.back();
  }

  /// `rows` of all `count` products together, which a group of unequal products shares.
  void product(std::string_view name, std::int64_t count, double rows, std::int64_t n, std::int64_t k, DataType type) {
    const int kernels = work_.separate_experts ? static_cast<int>(count) : 1;
    if (is_narrow(type)) cast(rows, as_real(count), n, k, type, kernels);
    TransformerOperator& each = add(OperatorKind::product, name, whole_rows(rows / as_real(count)), n);
    each.count = count;
    each.kernels_of_group = kernels;
    each.k = k;
    each.type = type;
    const double flops = 2 * rows * as_real(n) * as_real(k);
    const double bytes =
        (rows * as_real(n + k) + as_real(count) * as_real(n) * as_real(k)) * as_real(activation_bytes(type));
    each.forward = each.input_gradient = each.weight_gradient = {flops, bytes, kernels};
    if (work_.sum_bytes == 0) return;
    // What is written is the sum, too.
    const double weights = as_real(count) * as_real(n) * as_real(k);
    each.weight_gradient.bytes += weights * (work_.sum_bytes - activation_bytes(type));
    each.weight_gradient.late_bytes = weights * work_.sum_bytes;
  }
  void product(std::string_view name, std::int64_t count, std::int64_t m, std::int64_t n, std::int64_t k,
               DataType type) {
    product(name, count, as_real(m) * as_real(count), n, k, type);
  }

  /// Reads its input and writes its output; backward reads the gradient too, which includes those of the weights.
  void norm(std::string_view name, std::int64_t rows, std::int64_t columns) {
    if (work_.eager && model_.norm == NormKind::rms) {
      // To fp32, squares, their mean, by its root, back, times the weights; backward the gradients of each.
      return separate(name, as_real(rows) * as_real(columns), {28, 4, 6}, {52, 6, 10});
    }
    TransformerOperator& each = add(OperatorKind::norm, name, rows, columns);
    if (model_.norm == NormKind::rms) each.measured_as = "rms_norm";
    const double tensor = as_real(rows) * as_real(columns) * width_;
    each.forward = {0, 2 * tensor, 1};
    each.input_gradient = {0, 3 * tensor, 1};
  }

  void layer_norm(std::string_view name) {
    within(Recomputation::layernorm, [&] { norm(name, own_, model_.hidden); });
  }

  /// What kernels of single operations move for each number: bytes in fp32, and numbers in the type of activations.
  struct Separate {
    double single_precision, tensors;
    int kernels;
  };
  void separate(std::string_view name, double numbers, const Separate& forward, const Separate& backward) {
    TransformerOperator& each = add(OperatorKind::elementwise, name, whole_rows(numbers), 1);
    const auto work = [&](const Separate& pass) {
      return LayerWork{0, numbers * (pass.single_precision + pass.tensors * width_), pass.kernels};
    };
    each.forward = work(forward);
    each.input_gradient = work(backward);
  }

  /// A kernel that moves `forward` and `backward` tensors of m x n numbers.
  void pointwise(std::string_view name, double rows, std::int64_t columns, double forward, double backward) {
    TransformerOperator& each = add(OperatorKind::elementwise, name, whole_rows(rows), columns);
    const double tensor = rows * as_real(columns) * width_;
    each.forward = {0, forward * tensor, 1};
    each.input_gradient = {0, backward * tensor, 1};
  }
  void pointwise(std::string_view name, std::int64_t rows, std::int64_t columns, double forward, double backward) {
    pointwise(name, as_real(rows), columns, forward, backward);
  }

  /// Sums `tensors` - 1 tensors of the hidden size.
  void sum(std::string_view name, double tensors) { pointwise(name, own_, model_.hidden, tensors, tensors); }

  /// The sum of `summands` tensors behind a sublayer. Dropout is part of the kernel and has a mask of one byte a
  /// number.
  void residual(std::string_view name, double summands) {
    sum(name, summands + 1);
    if (!model_.dropout) return;
    const double mask = as_real(own_) * as_real(model_.hidden);
    operators_.back().forward.bytes += mask;
    operators_.back().input_gradient.bytes += mask;
  }

  void dropout(std::string_view name, std::int64_t rows, std::int64_t columns) {
    TransformerOperator& each = add(OperatorKind::elementwise, name, rows, columns);
    each.forward = each.input_gradient = {0, as_real(rows) * as_real(columns) * (2 * width_ + 1), 1};
  }

  void attention(bool causal) {
    part_ = LayerPart::attention;
    layer_norm("attention_norm");
    if (model_.latent) {
      latent_projections(*model_.latent);
    } else {
      const std::int64_t heads = (model_.heads + 2 * model_.key_value_heads) / split_.tensor;
      product("qkv", 1, all_, heads * model_.head_size, model_.hidden, work_.type);
      if (model_.query_key_norms) norm("query_key_norms", all_ * turned_heads(), model_.head_size);
      if (is_rotary()) rotary(turned_heads() * model_.head_size);
    }
    core_attention(causal);
    product("output", 1, all_, model_.hidden, model_.context_width() / split_.tensor, work_.type);
    residual("attention_sum", 2);
  }

  [[nodiscard]] bool is_rotary() const { return model_.positions == 0 && model_.relative_buckets == 0; }
  [[nodiscard]] std::int64_t turned_heads() const { return (model_.heads + model_.key_value_heads) / split_.tensor; }

  /// Every rank makes the short vectors of its own tokens, and its heads from those of all tokens.
  void latent_projections(const LatentAttention& latent) {
    const std::int64_t heads = model_.heads / split_.tensor;
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
    within(Recomputation::mla_up_proj, [&] {
      product("key_value_up", 1, all_, heads * (latent.plain_size + latent.value_size), latent.key_value_rank,
              work_.type);
      rotary((heads + 1) * latent.rotary_size);
      // Each head gets its key with the rotary part that all share, and its value by itself; backward their gradients.
      pointwise("key_value_heads", all_, heads * (2 * (latent.plain_size + latent.value_size) + latent.rotary_size), 1,
                1);
    });
  }

  void rotary(std::int64_t width) {
    if (work_.eager) {
      // To fp32, a product of complex numbers, and back; so are the gradients.
      return separate("rotary", as_real(all_) * as_real(width), {16, 2, 3}, {16, 2, 3});
    }
    pointwise("rotary", all_, width, 2, 2);
    operators_.back().measured_as = "rope";
  }

  void cross_attention() {
    part_ = LayerPart::attention;
    norm("cross_norm", own_, model_.hidden);
    product("cross_query", 1, all_, model_.query_width() / split_.tensor, model_.hidden, work_.type);
    product("cross_key_value", 1, all_, (model_.key_width() + model_.value_width()) / split_.tensor, model_.hidden,
            work_.type);
    core_attention(false);
    product("cross_output", 1, all_, model_.hidden, model_.context_width() / split_.tensor, work_.type);
    residual("cross_sum", 2);
  }

  /// The queries of this rank's tokens to the keys of the whole sequence, which come from all context ranks.
  void core_attention(bool causal) {
    if (work_.eager && model_.key_value_heads < model_.heads && !model_.latent) {
      // Every query head gets a key and a value of its own; backward their gradients are added up.
      const double written = as_real(all_) * as_real(model_.heads * model_.head_size) / as_real(split_.tensor) * 2;
      const double read = written * as_real(model_.key_value_heads) / as_real(model_.heads);
      separate("repeated_keys_values", written + read, {0, 1, 2}, {0, 1, 2});
    }
    const LayerPart outer = std::exchange(part_, LayerPart::core_attention);
    const std::int64_t heads = work_.sequences * model_.heads / split_.tensor;
    const std::int64_t queries = work_.sequence / split_.context, keys = work_.sequence;
    const double tokens = as_real(all_), all_keys = as_real(work_.sequences * work_.sequence);
    const double tensor = as_real(split_.tensor);
    const std::int64_t query_size = model_.query_width() / model_.heads;
    const double query = tokens * as_real(model_.query_width()) / tensor * width_;
    const double key = all_keys * as_real(model_.key_width()) / tensor * width_;
    const double value = all_keys * as_real(model_.value_width()) / tensor * width_;
    const double context = tokens * as_real(model_.context_width()) / tensor * width_;
    // Both products multiply each query (weight) with each key (value) of its head.
    const double pairs = as_real(heads) * as_real(queries) * as_real(keys);
    const double score_flops = 2 * pairs * as_real(query_size);
    const double context_flops = 2 * pairs * as_real(model_.context_width() / model_.heads);
    if (work_.flash_attention) {
      const double documents = work_.documents.empty() ? 1 : attention_of(work_.documents);
      const double part = documents * (causal && work_.skip_masked ? 0.5 : 1);
      const double logarithms = 4 * as_real(heads) * as_real(queries);  // of the sums of exponentials, in fp32
      TransformerOperator& each = shaped(OperatorKind::fused_attention, "attention", heads, queries, keys, query_size);
      each.key_heads = std::max<std::int64_t>(1, heads * model_.key_width() / model_.query_width());
      each.value_size = model_.context_width() / model_.heads;
      each.causal = causal && work_.skip_masked;
      each.forward = {part * (score_flops + context_flops), query + key + value + context + logarithms, 1};
      // The scores again, the gradients of weights and values from the context, those of queries and keys.
      each.input_gradient = {part * (3 * score_flops + 2 * context_flops),
                             2 * (query + key + value + context) + logarithms, 1};
    } else {
      modules_ = Recomputation::core_attn;
      const double scores = pairs * width_;
      TransformerOperator& first = shaped(OperatorKind::attention_scores, "scores", heads, queries, keys, query_size);
      first.forward = {score_flops, query + key + scores, 1};
      first.input_gradient = {2 * score_flops, 2 * (query + key + scores), 2};
      TransformerOperator& softmax = shaped(OperatorKind::softmax, "softmax", 1, heads * queries, keys, 0);
      softmax.forward = {0, 2 * scores, 1};
      softmax.input_gradient = {0, 3 * scores, 1};
      if (model_.dropout) dropout("attention_dropout", heads * queries, keys);
      TransformerOperator& second = shaped(OperatorKind::attention_context, "context", heads, queries, keys,
                                           model_.context_width() / model_.heads);
      second.forward = {context_flops, scores + value + context, 1};
      second.input_gradient = {2 * context_flops, 2 * (scores + value + context), 2};
    }
    modules_ = Recomputation::rest;
    part_ = outer;
  }

  TransformerOperator& shaped(OperatorKind kind, std::string_view name, std::int64_t count, std::int64_t m,
                              std::int64_t n, std::int64_t k) {
    TransformerOperator& each = add(kind, name, m, n);
    each.count = count;
    each.k = k;
    return each;
  }

  /// `groups` feed-forwards of `width` that share the rows.
  void feed_forward(double rows, std::int64_t groups, std::int64_t width, std::string_view up,
                    std::string_view activation, std::string_view down) {
    product(up, groups, rows, (model_.gated ? 2 : 1) * width, model_.hidden, work_.type);
    if (groups > 1) operators_.back().measured_as = "grouped_gemm";
    // Gated: reads gate and up, writes their product; backward also reads its gradient and writes two.
    if (work_.eager && model_.gated) {
      separate(activation, rows * as_real(width), {0, 5, 2}, {0, 9, 3});  // the activation, and the product with up
    } else {
      pointwise(activation, rows, width, model_.gated ? 3 : 2, model_.gated ? 5 : 3);
      if (model_.gated) operators_.back().measured_as = "swiglu";
    }
    if (part_ == LayerPart::experts) operators_.back().modules = modules_ | Recomputation::moe_act;
    product(down, groups, rows, model_.hidden, width, work_.type);
    if (groups > 1) operators_.back().measured_as = "grouped_gemm";
  }
  void feed_forward(std::int64_t rows, std::int64_t groups, std::int64_t width, std::string_view up,
                    std::string_view activation, std::string_view down) {
    feed_forward(as_real(rows), groups, width, up, activation, down);
  }

  void mixture(const MixtureOfExperts& mixture) {
    part_ = LayerPart::feed_forward;
    layer_norm("feed_forward_norm");
    within(Recomputation::moe, [&] { experts(mixture); });
    part_ = LayerPart::feed_forward;
    residual("feed_forward_sum", mixture.shared_feed_forward > 0 ? 3 : 2);
  }

  void experts(const MixtureOfExperts& mixture) {
    part_ = LayerPart::router;
    product("router", 1, own_, mixture.experts, model_.hidden, work_.router_type);
    // In fp32, whatever the type of the products: scores to probabilities.
    TransformerOperator& choice = add(OperatorKind::elementwise, "choice", own_, mixture.experts);
    choice.forward = {0, 2 * 4 * as_real(own_) * as_real(mixture.experts), 1};
    choice.input_gradient = {0, 3 * 4 * as_real(own_) * as_real(mixture.experts), 1};
    if (work_.routing_kernels > 0) {
      // Masks, sums and places of tokens by expert, each a kernel that reads and writes a table of 4 bytes a number.
      TransformerOperator& tables = add(OperatorKind::elementwise, kRouting, own_, mixture.experts);
      tables.forward = tables.input_gradient = {
          0, 2 * 4 * as_real(own_) * as_real(mixture.experts) * work_.routing_kernels, work_.routing_kernels};
    }
    // Each token is read once and written for each of its experts, in the order in which they leave.
    const double copies = as_real(mixture.top_k);
    pointwise("permutation", own_, model_.hidden, 1 + copies, 1 + copies);

    part_ = LayerPart::experts;
    const double arrived = arrived_tokens(model_, work_);
    const std::int64_t local = mixture.experts / split_.expert;
    const bool sorts = split_.expert * split_.expert_tensor > 1 && local > 1;
    if (sorts) pointwise("arrival_sort", arrived, model_.hidden, 2, 2);
    feed_forward(arrived, local, mixture.expert_feed_forward / split_.expert_tensor, "expert_up", "expert_activation",
                 "expert_down");
    if (sorts) pointwise("departure_sort", arrived, model_.hidden, 2, 2);

    if (mixture.shared_feed_forward > 0) {
      part_ = LayerPart::shared_experts;
      within(Recomputation::shared_experts, [&] {
        feed_forward(all_, 1, mixture.shared_feed_forward / split_.tensor, "shared_up", "shared_activation",
                     "shared_down");
      });
    }

    part_ = LayerPart::combination;
    pointwise("combination", own_, model_.hidden, copies + 1, copies + 1);
  }

  void logits() {
    if (model_.head == OutputHead::none) return;
    const std::int64_t rows = vocabulary_rows(model_, split_);
    product("logits", 1, all_, rows, model_.hidden, wide_);
    TransformerOperator& loss = add(OperatorKind::elementwise, "loss", all_, rows);
    const double numbers = as_real(all_) * as_real(rows);
    if (work_.loss == LossKernels::fused) {
      // Reads the logits and writes probabilities, of which backward makes the gradient. What is measured writes the
      // gradient at once, and leaves nothing to the backward pass.
      loss.measured_as = "cross_entropy";
      loss.forward = loss.input_gradient = {0, numbers * (width_ + 4), 1};
    } else if (work_.loss == LossKernels::megatron) {
      // Of numbers in fp32 three are changed in place, two summed up; choice and mask are kernels of a number a token.
      loss.forward = {0, numbers * (width_ + 4 + 3 * 8 + 2 * 4), 14};
      loss.input_gradient = {0, numbers * (8 + 4 + width_), 5};
    } else {
      // Forward: conversion, logarithms of probabilities. Backward: the gradient of the choice, which is zeros but for
      // one number a token, that of the logarithms from it and from them, conversion.
      loss.forward = {0, numbers * (width_ + 3 * 4), 2};
      loss.input_gradient = {0, numbers * (5 * 4 + width_), 3};
    }
  }

  const TransformerModel& model_;
  const MicroBatch& work_;
  const LayerSplit& split_;
  double width_;      // bytes of an activation
  DataType wide_;     // of what is not in a narrow format: all but products with weights of layers
  std::int64_t all_;  // tokens of the products
  std::int64_t own_;  // tokens between them
  LayerPart part_ = LayerPart::attention;
  Recomputation modules_ = Recomputation::rest;
  std::vector<TransformerOperator> operators_;
};

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
  const double most = as_real(work.split.expert);
  if (!(work.expert_imbalance >= 1 && work.expert_imbalance <= most))
    found.add("expert_imbalance", fmt::format("expected 1 to the {} ranks of the experts, got {}", work.split.expert,
                                              work.expert_imbalance));
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
  return operators.take();
}

std::vector<TransformerOperator> embedding_operators(const TransformerModel& model, const MicroBatch& work) {
  RankOperators operators{model, work};
  operators.embedding();
  return operators.take();
}

std::vector<TransformerOperator> head_operators(const TransformerModel& model, const MicroBatch& work) {
  RankOperators operators{model, work};
  operators.head();
  return operators.take();
}

std::vector<TransformerOperator> mtp_operators(const TransformerModel& model, const MicroBatch& work) {
  RankOperators operators{model, work};
  operators.prediction_module();
  return operators.take();
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
