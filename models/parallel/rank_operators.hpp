#pragma once
// Collects the operators of one part of a model on one rank, for operators.hpp.

#include "models/parallel/adapter_operators.hpp"
#include "models/parallel/narrow_bytes.hpp"
#include "models/parallel/operators.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

[[nodiscard]] inline double as_real(std::int64_t value) {
  return static_cast<double>(value);
}

/// Rows of a product that stands for unequal ones.
[[nodiscard]] inline std::int64_t whole_rows(double rows) {
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
    unit_ = index;
    kind_ = &model_.kind_of(index);
    if (kind_->attends) attention(model_.is_causal(index));
    if (model_.has_cross_attention(index)) cross_attention();
    feed_forward_half();
  }

  void embedding() {
    unit_ = TrainedPart::kEmbedding;
    part_ = LayerPart::embedding;
    TransformerOperator& look_up = add(OperatorKind::embedding, "look_up", all_, model_.hidden);
    look_up.k = vocabulary_rows(model_, split_);
    const double moved = 2 * as_real(all_) * as_real(model_.hidden) * width_;
    look_up.forward = {0, moved, 1};
    // The gradient of the table is dense: the rows are added into zeros.
    if (work_.trained.trains(WeightGroup::embedding, unit_))
      look_up.weight_gradient = {0, moved + as_real(look_up.k) * as_real(model_.hidden) * width_, 1};
    if (model_.positions > 0) sum("positions", 3);
    if (model_.token_types > 0) sum("token_types", 3);
    if (model_.embedding_norm) norm("embedding_norm", own_, model_.hidden);
    if (model_.dropout) dropout("embedding_dropout", own_, model_.hidden);
  }

  void head() {
    unit_ = TrainedPart::kHead;
    part_ = LayerPart::head;
    if (model_.final_norm) norm("final_norm", own_, model_.hidden);
    if (model_.pooler) product("pooler", 1, work_.sequences, model_.hidden, model_.hidden, wide_);
    logits();
  }

  void prediction_module() {
    unit_ = model_.all_layers() - 1;
    part_ = LayerPart::head;
    norm("prediction_embedding_norm", own_, model_.hidden);
    norm("prediction_hidden_norm", own_, model_.hidden);
    pointwise("prediction_concatenation", own_, 2 * model_.hidden, 2, 2);
    product("prediction_input", 1, all_, divided(model_.hidden), 2 * model_.hidden, work_.type);
    for (const std::uint16_t each : model_.module_kinds()) {
      kind_ = &model_.kind(each);
      if (kind_->attends) attention(model_.causal);
      if (model_.has_cross_attention(model_.all_layers() - 1)) cross_attention();
      feed_forward_half();
    }
    unit_ = TrainedPart::kHead;
    part_ = LayerPart::head;
    norm("final_norm", own_, model_.hidden);
    logits();
  }

 private:
  [[nodiscard]] std::int64_t divided(std::int64_t width) const { return (width + split_.tensor - 1) / split_.tensor; }

  /// The operands of a product are read with two bytes, and written with one twice: as they are and transposed, which
  /// the gradients need. Inputs and weights before the product, the gradients of the outputs before the gradients of
  /// both. PyTorch's modules have fp8 by torchao, which reads inputs and gradients once more, for the largest number
  /// that their scale follows from (torchao/testing/training/roofline_utils.py, tensorwise).
  void cast(double rows, double count, std::int64_t n, std::int64_t k, DataType type, int kernels,
            bool trains_product) {
    const double narrow = narrow_bytes(type), moved = 2 + 2 * narrow;
    TransformerOperator& each = add(OperatorKind::elementwise, "cast", whole_rows(rows / count), k);
    each.measured_as = "cast_transpose";
    each.forward = {0, moved * (rows * as_real(k) + count * as_real(n) * as_real(k)), 2 * kernels};
    each.input_gradient = {0, moved * rows * as_real(n), kernels};
    each.kernels_of_group = kernels;
    if (work_.pointwise != PointwiseKernels::fused && type == DataType::fp8) {
      each.forward.bytes += 2 * rows * as_real(k);
      each.forward.kernels += kernels;
      each.input_gradient.bytes += 2 * rows * as_real(n);
      each.input_gradient.kernels += kernels;
    }
    if (trains_product) return;
    // A frozen weight is kept as it is multiplied, and transposed for the gradient of the input, which needs neither
    // input nor gradient transposed.
    const double weights = count * as_real(n) * as_real(k);
    each.measured_as = {};
    each.forward = {0, (2 + narrow) * rows * as_real(k), kernels};
    each.input_gradient = {0, (2 + narrow) * rows * as_real(n) + 2 * narrow * weights, 2 * kernels};
  }

  /// The product of a frozen weight that QLoRA keeps in 4 bits reads it as numbers of 2 bytes, which are written before
  /// each product.
  void dequantise(double count, std::int64_t n, std::int64_t k, int kernels) {
    const double weights = count * as_real(n) * as_real(k);
    TransformerOperator& each = add(OperatorKind::elementwise, "dequantise", whole_rows(weights / as_real(k)), k);
    each.forward = each.input_gradient = {0, weights * (nf4_width() + width_), kernels};
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

  /// A product with a weight, behind the adapters that stand beside it. `rows` of all `count` products together, which
  /// a group of unequal products shares.
  void product(std::string_view name, std::int64_t count, double rows, std::int64_t n, std::int64_t k, DataType type) {
    if (!work_.trained.is_part()) return plain_product(name, count, rows, n, k, type);
    if (work_.trained.adapter)
      for (TransformerOperator& each :
           adapter_operators(model_, *kind_, work_, name, part_ == LayerPart::experts, {count, rows, n, k})) {
        each.part = part_;
        each.modules = modules_;
        each.type = wide_;
        operators_.push_back(each);
      }
    const std::vector<WeightGroup> groups = groups_of_product(model_, *kind_, name);
    const bool trains = work_.trained.trains(groups.empty() ? WeightGroup::norm : groups.front(), unit_);
    const bool is_layers = unit_ >= 0 && unit_ != TrainedPart::kHead && name != "router";
    if (work_.trained.adapter && work_.trained.adapter->kind == AdapterKind::qlora && is_layers)
      dequantise(as_real(count), n, k, work_.separate_experts ? static_cast<int>(count) : 1);
    plain_product(name, count, rows, n, k, type, trains);
  }

  void plain_product(std::string_view name, std::int64_t count, double rows, std::int64_t n, std::int64_t k,
                     DataType type, bool trains = true) {
    const int kernels = work_.separate_experts ? static_cast<int>(count) : 1;
    if (is_narrow(type)) cast(rows, as_real(count), n, k, type, kernels, trains);
    TransformerOperator& each = add(OperatorKind::product, name, whole_rows(rows / as_real(count)), n);
    each.count = count;
    each.kernels_of_group = kernels;
    each.k = k;
    each.type = type;
    const double flops = 2 * rows * as_real(n) * as_real(k);
    const double bytes =
        (rows * as_real(n + k) + as_real(count) * as_real(n) * as_real(k)) * as_real(activation_bytes(type));
    each.forward = each.input_gradient = each.weight_gradient = {flops, bytes, kernels};
    if (!trains) each.weight_gradient = {};
    if (work_.sum_bytes == 0 || !trains) return;
    // What is written is the sum, too.
    const double weights = as_real(count) * as_real(n) * as_real(k);
    each.weight_gradient.bytes += weights * (work_.sum_bytes - activation_bytes(type));
    each.weight_gradient.late_bytes = weights * work_.sum_bytes;
  }
  void product(std::string_view name, std::int64_t count, std::int64_t m, std::int64_t n, std::int64_t k,
               DataType type) {
    product(name, count, as_real(m) * as_real(count), n, k, type);
  }

  /// Reads its input and writes its output; backward reads the gradient too, which includes the gradients of the
  /// weights.
  void norm(std::string_view name, std::int64_t rows, std::int64_t columns) {
    if (work_.pointwise == PointwiseKernels::eager && model_.norm == NormKind::rms) {
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

  /// The sum of the gradients of one input that several products made, as Llama's modules have them in PyTorch, whose
  /// queries, keys and values, and whose gate, are products of their own (models/llama/model.py of torchtitan): a
  /// kernel for each further product, or one behind a compiler.
  void sum_of_gradients(std::string_view name, int products) {
    if (work_.pointwise == PointwiseKernels::fused || work_.trained.is_part()) return;
    const bool compiled = work_.pointwise == PointwiseKernels::compiled;
    const int kernels = compiled ? 1 : products - 1;
    TransformerOperator& each = add(OperatorKind::elementwise, name, all_, model_.hidden);
    const double tensor = as_real(all_) * as_real(model_.hidden) * width_;
    each.input_gradient = {0, tensor * (compiled ? products + 1 : 3 * kernels), kernels};
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

  /// What `adds` adds, between the norm in front and further norms behind.
  template <class Adds>
  void norms(int count, std::string_view name, const Adds& adds) {
    if (count > 0) layer_norm(name);
    adds();
    const LayerPart outer = part_;
    for (int i = 1; i < count; ++i) norm("norm_behind", own_, model_.hidden);
    part_ = outer;
    if (model_.streams > 1) mix_streams();
  }

  /// The weights of all streams out of all of them, the sum that one half of a layer gets, and the part that the half
  /// gives to each stream.
  void mix_streams() {
    const std::int64_t streams = model_.streams;
    product("stream_weights", 1, own_, (2 + streams) * streams, streams * model_.hidden, wide_);
    const auto moved = static_cast<double>(3 * streams + 2);
    pointwise("streams", own_, model_.hidden, moved, moved);
  }

  void feed_forward_half() {
    if (kind_->mixture) {
      mixture(*kind_->mixture);
    } else if (kind_->feed_forward > 0) {
      part_ = LayerPart::feed_forward;
      norms(kind_->feed_forward_norms, "feed_forward_norm", [&] {
        within(Recomputation::mlp,
               [&] { feed_forward(all_, 1, kind_->feed_forward / split_.tensor, "up", "activation", "down"); });
      });
      residual("feed_forward_sum", kind_->parallel ? 3 : 2);
    }
    if (model_.layer_inputs == 0) return;
    part_ = LayerPart::feed_forward;
    product("layer_input_gate", 1, own_, model_.layer_inputs, model_.hidden, work_.type);
    product("layer_input", 1, own_, model_.hidden, model_.layer_inputs, work_.type);
    norm("norm_behind", own_, model_.hidden);
    residual("layer_input_sum", 2);
  }

  /// The sizes of attention on this rank, and the bytes of its tensors.
  struct AttentionTensors {
    std::int64_t heads = 0, queries = 0, keys = 0, query_size = 0, value_size = 0;
    double query = 0, key = 0, value = 0, context = 0;
    double pairs = 0, score_flops = 0, context_flops = 0;
  };

  // Attention and recurrences, in attention_operators.cpp.
  [[nodiscard]] AttentionTensors attention_tensors() const;
  void attention(bool causal);
  [[nodiscard]] bool is_rotary() const;
  [[nodiscard]] std::int64_t turned_heads() const;
  void head_projections();
  void latent_projections(const LatentAttention& latent);
  void index_projections(const SparseIndex& index);
  void rotary(std::int64_t width);
  void output(std::string_view name);
  void cross_attention();
  void core_attention(bool causal);
  void fused_attention(bool causal);
  void plain_attention();
  void recurrence(const Recurrence& sizes);
  void scan(const Recurrence& sizes);

  TransformerOperator& shaped(OperatorKind kind, std::string_view name, std::int64_t count, std::int64_t m,
                              std::int64_t n, std::int64_t k) {
    TransformerOperator& each = add(kind, name, m, n);
    each.count = count;
    each.k = k;
    return each;
  }

  /// `groups` feed-forwards of `width` that share the rows.
  void feed_forward(double rows, std::int64_t groups, std::int64_t width, std::string_view up,
                    std::string_view activation, std::string_view down, std::int64_t ends) {
    product(up, groups, rows, (kind_->gated ? 2 : 1) * width, ends, work_.type);
    if (groups > 1) operators_.back().measured_as = "grouped_gemm";
    if (groups == 1 && kind_->gated) sum_of_gradients("up_gradients", 2);
    // Gated: reads gate and up, writes their product; backward also reads its gradient and writes two.
    if (work_.pointwise == PointwiseKernels::eager && kind_->gated) {
      separate(activation, rows * as_real(width), {0, 5, 2}, {0, 9, 3});  // the activation, and the product with up
    } else {
      pointwise(activation, rows, width, kind_->gated ? 3 : 2, kind_->gated ? 5 : 3);
      if (kind_->gated) operators_.back().measured_as = "swiglu";
    }
    if (part_ == LayerPart::experts) operators_.back().modules = modules_ | Recomputation::moe_act;
    product(down, groups, rows, ends, width, work_.type);
    if (groups > 1) operators_.back().measured_as = "grouped_gemm";
  }
  void feed_forward(std::int64_t rows, std::int64_t groups, std::int64_t width, std::string_view up,
                    std::string_view activation, std::string_view down) {
    feed_forward(as_real(rows), groups, width, up, activation, down, model_.hidden);
  }

  void mixture(const MixtureOfExperts& mixture) {
    part_ = LayerPart::feed_forward;
    norms(kind_->feed_forward_norms, "feed_forward_norm", [&] {
      within(Recomputation::moe, [&] { experts(mixture); });
      part_ = LayerPart::feed_forward;
    });
    residual("feed_forward_sum", (mixture.shared_feed_forward > 0 ? 3 : 2) + (kind_->parallel ? 1 : 0));
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
    const std::int64_t ends = mixture.expert_width(model_.hidden);
    if (mixture.latent > 0) product("latent_down", 1, own_, ends, model_.hidden, work_.type);
    pointwise("permutation", own_, ends, 1 + copies, 1 + copies);

    part_ = LayerPart::experts;
    const double arrived = arrived_tokens(model_, work_);
    const std::int64_t local = mixture.experts / split_.expert;
    const bool sorts = split_.expert * split_.expert_tensor > 1 && local > 1;
    if (sorts) pointwise("arrival_sort", arrived, ends, 2, 2);
    feed_forward(arrived, local, mixture.expert_feed_forward / split_.expert_tensor, "expert_up", "expert_activation",
                 "expert_down", ends);
    if (sorts) pointwise("departure_sort", arrived, ends, 2, 2);

    if (mixture.shared_feed_forward > 0) {
      part_ = LayerPart::shared_experts;
      within(Recomputation::shared_experts, [&] {
        feed_forward(all_, 1, mixture.shared_feed_forward / split_.tensor, "shared_up", "shared_activation",
                     "shared_down");
      });
    }

    part_ = LayerPart::combination;
    pointwise("combination", own_, ends, copies + 1, copies + 1);
    if (mixture.latent > 0) product("latent_up", 1, own_, model_.hidden, ends, work_.type);
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
      // one number a token, the gradient of the logarithms from it and from them, conversion.
      loss.forward = {0, numbers * (width_ + 3 * 4), 2};
      loss.input_gradient = {0, numbers * (5 * 4 + width_), 3};
    }
  }

  const TransformerModel& model_;
  const TransformerLayer* kind_ = &model_;  ///< of the layer at hand
  const MicroBatch& work_;
  const LayerSplit& split_;
  double width_;           // bytes of an activation
  DataType wide_;          // of what is not in a narrow format: all but products with weights of layers
  std::int64_t all_;       // tokens of the products
  std::int64_t own_;       // tokens between them
  std::int64_t unit_ = 0;  // of the model: a layer, the embedding or the head (TrainedPart)
  LayerPart part_ = LayerPart::attention;
  Recomputation modules_ = Recomputation::rest;
  std::vector<TransformerOperator> operators_;
};

}  // namespace contend
