#include "models/parallel/memory.hpp"

#include "models/layer_work.hpp"
#include "models/parallel/layer_split.hpp"
#include "sim/complaints.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

double real_number(std::int64_t value) {
  return static_cast<double>(value);
}

/// Adds up the tensors that passes leave behind, in bytes.
class KeptTensors {
 public:
  KeptTensors(const TransformerModel& model, const MicroBatch& work, Recomputation recomputation)
      : model_{model},
        work_{work},
        width_{real_number(activation_bytes(work.type))},
        all_{real_number(work.context_tokens())},
        own_{real_number(work.tokens())},
        tensor_{real_number(work.split.tensor)},
        recomputation_{recomputation} {}

  [[nodiscard]] ActivationBytes sum() const {
    const auto bytes = [](double value) {
      if (!(value < 0x1p63)) throw_bytes_overflow();
      return Bytes{static_cast<std::int64_t>(std::ceil(value))};
    };
    return {bytes(until_input_), bytes(until_weight_), bytes(gradients_)};
  }

  void layer(std::int64_t index) {
    unit_ = index;
    if (work_.trained.backward(model_, index) == BackwardPart::none) return;  // nothing needs anything of it
    kind_ = &model_.kind_of(index);
    if (keeps_a_list()) return;
    attention();
    if (model_.has_cross_attention(index)) {
      attention(true);
      // All decoder layers read the same output of the encoder.
      if (index == model_.encoder_layers) keep_input(own_, hidden(), "cross_key_value");
    }
    feed_forward_half();
  }

  void embedding() {
    unit_ = TrainedPart::kEmbedding;
    if (!work_.trained.trains(WeightGroup::embedding, unit_)) return;
    until_weight_ += 8 * all_;
    if (model_.embedding_norm) norm(hidden());
    if (model_.dropout) until_input_ += own_ * hidden();
  }

  void head() {
    unit_ = TrainedPart::kHead;
    if (model_.final_norm) norm(hidden());
    if (model_.head == OutputHead::none) return;
    const double logits = all_ * real_number(vocabulary_rows(model_, work_.split));
    keep_input(own_, hidden(), "logits");
    until_input_ += 4 * logits;
    gradients_ += width_ * logits;
  }

  void prediction_module() {
    norm(hidden());
    norm(hidden());
    product_ends("prediction_input", own_, 2 * hidden(), own_, hidden());
    unit_ = model_.all_layers() - 1;
    for (const std::uint16_t each : model_.module_kinds()) {
      kind_ = &model_.kind(each);
      if (keeps_a_list()) continue;
      attention();
      if (model_.has_cross_attention(model_.all_layers() - 1)) attention(true);
      feed_forward_half();
    }
    head();
  }

 private:
  /// True if the recomputation says what a layer keeps.
  bool keeps_a_list() {
    if (recomputation_ == Recomputation::full) until_input_ += width_ * own_ * streams() * hidden();
    if (recomputation_ == Recomputation::operators) every_second_product();
    return computes_layers_again(recomputation_);
  }

  void feed_forward_half() {
    if (!kind_->has_feed_forward()) return;
    norms(kind_->feed_forward_norms);
    if (kind_->mixture) {
      mixture(*kind_->mixture);
    } else {
      if (!repeats(recomputation_, Recomputation::mlp)) feed_forward(all_, real_number(kind_->feed_forward) / tensor_);
      product_ends("up", own_, hidden(), own_, hidden());
    }
    drop_norm_output(kind_->feed_forward_norms, kind_->mixture ? "router" : "up");
    residual_dropout();
  }

  /// The output of the norm in front of a product, out of which attention or the feed-forward comes.
  void drop_norm_output(int in_half, std::string_view product) {
    if (in_half > 0 && repeats(recomputation_, Recomputation::layernorm))
      until_weight_ -= input_bytes(product, own_, hidden());
  }

  [[nodiscard]] double hidden() const { return real_number(model_.hidden); }
  [[nodiscard]] double streams() const { return real_number(model_.streams); }

  /// Inputs of norms of the hidden state; the first one has all streams.
  void norms(int count) {
    for (int i = 0; i < count; ++i) norm(i == 0 ? streams() * hidden() : hidden());
  }
  /// The input of a norm.
  void norm(double width) { until_input_ += width_ * own_ * width; }
  /// The input of a product, and the gradient of its output.
  void product_ends(std::string_view product, double input_rows, double input, double output_rows, double output) {
    keep_input(input_rows, input, product);
    gradients_ += width_ * output_rows * output;
  }
  void keep_input(double rows, double width, std::string_view product) {
    until_weight_ += input_bytes(product, rows, width);
  }
  /// What the gradients of the weights of a product, and of the adapters beside it, need of its input.
  [[nodiscard]] double input_bytes(std::string_view product, double rows, double width) const {
    const TrainedPart& trained = work_.trained;
    if (!trained.is_part()) return width_ * rows * width;
    const std::vector<WeightGroup> groups = groups_of_product(model_, *kind_, product);
    const WeightGroup group = groups.empty() ? WeightGroup::norm : groups.front();
    double bytes = trained.trains(group, unit_) ? width_ * rows * width : 0;
    if (!trained.adapter) return bytes;
    const bool needs_input = trained.trains(WeightGroup::adapter_in, unit_);
    for (const AdapterTarget target : trained.adapter->targets) {
      if (std::ranges::find(groups, groups_of(target).front()) == groups.end()) continue;
      bytes += width_ * rows * real_number(trained.adapter->rank);  // the output of A
      // Dropout gives each A an input of its own, and has a mask of a byte a number.
      if (trained.adapter->dropout)
        bytes += (needs_input ? width_ + 1 : 1) * rows * width;
      else if (needs_input)
        bytes += is_counted(target, groups) ? width_ * rows * width : 0;
    }
    return bytes;
  }
  /// True of the first target of a product, whose input all have.
  [[nodiscard]] bool is_counted(AdapterTarget target, const std::vector<WeightGroup>& groups) const {
    const auto first = std::ranges::find_if(work_.trained.adapter->targets, [&](AdapterTarget each) {
      return std::ranges::find(groups, groups_of(each).front()) != groups.end();
    });
    return *first == target;
  }
  void residual_dropout() {
    if (model_.dropout) until_input_ += own_ * hidden();
  }

  void attention(bool is_cross = false) {
    if (!kind_->attends) return;
    norms(kind_->attention_norms);
    drop_norm_output(is_cross ? 0 : kind_->attention_norms, kind_->recurrence ? "recurrence_input" : "qkv");
    if (kind_->recurrence) return recurrence(*kind_->recurrence);
    const double query = real_number(kind_->query_width()) / tensor_, key = real_number(kind_->key_width()) / tensor_;
    const double value = real_number(kind_->value_width()) / tensor_;
    const double context = real_number(kind_->context_width()) / tensor_;
    if (kind_->latent) {
      latent(*kind_->latent, query, context);
    } else {
      product_ends("qkv", own_, hidden(), all_, real_number(kind_->projected_width()) / tensor_);
      if (kind_->query_key_norms) until_input_ += width_ * all_ * (query + (kind_->shares_keys ? 0 : key));
    }
    // The gate, and the context in front of it.
    if (kind_->gate_width > 0) until_input_ += width_ * all_ * (real_number(kind_->gate_width) / tensor_ + context);
    if (kind_->index)
      until_input_ += width_ * own_ * real_number((kind_->index->heads + 1) * kind_->index->size + kind_->index->heads);
    if (kind_->latent && repeats(recomputation_, Recomputation::mla_up_proj)) {
      until_input_ += width_ * all_ * real_number(kind_->latent->rotary_size);  // out of which keys come again
    } else {
      until_input_ += width_ * all_ * (query + (kind_->shares_keys ? 0 : key + value));
    }
    scores();
    product_ends("output", all_, context, own_, hidden());
    residual_dropout();
  }

  /// The columns of the product in front and, behind the convolution, its channels; the state at the begin of each
  /// chunk, in fp32; the output in front of its norm and behind it, where the output product reads it.
  void recurrence(const Recurrence& sizes) {
    const double columns = real_number(sizes.input_width() + (sizes.gate_rank > 0 ? sizes.value_width() : 0) +
                                       (sizes.decay_rank > 0 ? sizes.key_width() : 0)) /
                           tensor_;
    const double value = real_number(sizes.value_width()) / tensor_;
    product_ends("recurrence_input", own_, hidden(), all_, columns);
    until_input_ += width_ * all_ * columns;
    if (sizes.convolution > 0) until_input_ += width_ * all_ * real_number(sizes.channels()) / tensor_;
    until_input_ += 4 * all_ / real_number(sizes.chunk) * real_number(sizes.state()) / tensor_;
    if (sizes.gated || sizes.norm_size > 0) until_input_ += width_ * all_ * value;
    product_ends("output", all_, value, own_, hidden());
    residual_dropout();
  }

  /// The short vectors are kept in front of their norms and behind them.
  void latent(const LatentAttention& sizes, double query, double context) {
    const double query_rank = real_number(sizes.query_rank), key_value_rank = real_number(sizes.key_value_rank);
    if (sizes.query_rank > 0) {
      norm(query_rank);
      product_ends("query_up", own_, query_rank, all_, query);
      gradients_ += width_ * own_ * query_rank;
    } else {
      gradients_ += width_ * all_ * query;
    }
    norm(key_value_rank);
    const double plain_and_value =
        (sizes.shared_by_heads ? 0 : real_number(kind_->heads * sizes.plain_size) / tensor_ + context);
    product_ends("key_value_up", sizes.shared_by_heads ? 0 : own_, key_value_rank, all_, plain_and_value);
    product_ends("key_value_down", own_, hidden(), own_, key_value_rank + real_number(sizes.rotary_size));
  }

  void scores() {
    const double heads = real_number(kind_->heads) / tensor_;
    if (work_.flash_attention) {
      until_input_ += 4 * all_ * heads;  // logarithms of the sums of exponentials
    } else if (!repeats(recomputation_, Recomputation::core_attn)) {
      // Weights behind the softmax; with dropout its mask of one byte, and the weights behind it.
      const double each = width_ + (model_.dropout ? 1 + width_ : 0);
      until_input_ += each * all_ * real_number(work_.sequence) * heads;
    }
  }

  /// The input of the layer, the outputs of attention and of the first, third, fifth and seventh product, and those of
  /// reduce-scatters (Recomputation::operators).
  void every_second_product() {
    const double queries = real_number(kind_->query_width()) / tensor_;
    const double values = real_number(kind_->value_width()) / tensor_;
    const double context = real_number(kind_->context_width()) / tensor_;
    const double inner = real_number(kind_->feed_forward) / tensor_;
    norm(hidden());
    until_input_ += width_ * all_ * (queries + values + context + inner);
    until_input_ += 4 * all_ * real_number(kind_->heads) / tensor_;
    if (kind_->gated) until_input_ += width_ * all_ * hidden();  // what goes down, which nothing needs any more
    if (work_.split.sequence_parallel) until_input_ += 2 * width_ * own_ * hidden();
  }

  /// What lies between the products of a feed-forward: gate, up and their product, or both ends of the activation.
  void feed_forward(double rows, double width, bool activates_again = false) {
    const double inputs = kind_->gated ? 2 : 1;
    until_input_ += width_ * rows * inputs * width;
    product_ends("down", activates_again ? 0 : rows, width, rows, inputs * width);
  }

  void mixture(const MixtureOfExperts& mixture) {
    const double arrived = arrived_tokens(model_, work_);
    keep_input(own_, hidden(), "router");  // and of shared experts
    if (repeats(recomputation_, Recomputation::moe)) return;
    // Tokens as they arrive, and what the experts make of them, which the gradient of the router's weights needs.
    const double ends = real_number(mixture.expert_width(model_.hidden));
    if (mixture.latent > 0) product_ends("latent_down", own_, ends, own_, ends);
    product_ends("expert_up", arrived, ends, arrived, ends);
    until_input_ += width_ * arrived * ends;
    feed_forward(arrived, real_number(mixture.expert_feed_forward) / real_number(work_.split.expert_tensor),
                 repeats(recomputation_, Recomputation::moe_act));
    if (mixture.shared_feed_forward > 0 && !repeats(recomputation_, Recomputation::shared_experts)) {
      feed_forward(all_, real_number(mixture.shared_feed_forward) / tensor_);
      gradients_ += width_ * own_ * hidden();
    }
  }

  const TransformerModel& model_;
  const TransformerLayer* kind_ = &model_;
  const MicroBatch& work_;
  double width_;  // bytes of an activation
  double all_;    // tokens of products
  double own_;    // tokens between them
  double tensor_;
  std::int64_t unit_ = 0;  // of the model (TrainedPart)
  Recomputation recomputation_;
  double until_input_ = 0, until_weight_ = 0, gradients_ = 0;
};

/// What is there beside the probabilities while the loss or its gradient is computed: the logits in the type of
/// activations, or, of the kernels of a framework, two gradients in fp32.
Bytes loss_tensors(const TransformerModel& model, const MicroBatch& work) {
  if (model.head == OutputHead::none) return {};
  return Bytes{work.context_tokens()} * vocabulary_rows(model, work.split) *
         (work.loss == LossKernels::framework ? 2 * 4 : activation_bytes(work.type));
}

/// Parameters of the final norm and the matrix of the head on one rank, whoever else uses that matrix.
std::int64_t head_unit(const TransformerModel& model, const LayerSplit& split) {
  TransformerModel without_modules = model;
  without_modules.mtp_layers = 0;
  return rank_parameters(without_modules, {0, 0, false, true}, split).dense;
}

std::int64_t share(std::int64_t parameters, std::int64_t shards) {
  return (parameters + shards - 1) / shards;
}

/// States of a model of which not all weights are trained: frozen ones have neither gradients nor states of the
/// optimizer. With ZeRO-3 the weights of the two largest units, and the gradients of one, are there in full.
void add_parts(const TransformerModel& model, const MicroBatch& work, std::span<const HeldStage> stages,
               const MemoryOptions& options, GpuMemory& memory) {
  double frozen_dense = 0, frozen_experts = 0, largest = 0, next = 0, gradients = 0;
  std::int64_t dense = 0, experts = 0;
  const double width = activation_bytes(work.type);
  const auto unit = [&](const HeldWeights& held) {
    dense += held.trained.dense;
    experts += held.trained.experts;
    frozen_dense += held.frozen_dense;
    frozen_experts += held.frozen_experts;
    const double all = held.frozen_dense + held.frozen_experts + width * real_number(held.trained.total());
    next = std::max(next, std::min(all, largest));
    largest = std::max(largest, all);
    gradients = std::max(gradients, real_number(held.trained.total() * options.widths.gradients));
  };
  for (const HeldStage& stage : stages) {
    const LayerRange& range = stage.range;
    const auto held = [&](const LayerRange& part) {
      return held_weights(model, part, work.split, work.trained, work.type);
    };
    if (range.embedding) unit(held({range.first, range.first, true, false}));
    for (std::int64_t layer = range.first; layer < range.last; ++layer) unit(held({layer, layer + 1}));
    if (range.head) unit(held_by_head(model, range, work.split, work.trained, work.type));
  }
  const auto add = [&](std::int64_t trained, double frozen, std::int64_t shards) {
    const StateBytes states = state_bytes(trained, shards, options);
    memory.weights += states.weights;
    memory.weights +=
        Bytes{static_cast<std::int64_t>(std::ceil(options.zero == 3 ? frozen / real_number(shards) : frozen))};
    memory.gradients += states.gradients;
    memory.optimizer += states.optimizer;
  };
  add(dense, frozen_dense, options.dense_shards);
  add(experts, frozen_experts, options.expert_shards);
  if (options.zero == 3 && std::max(options.dense_shards, options.expert_shards) > 1)
    memory.gathered = Bytes{static_cast<std::int64_t>(std::ceil(largest + next + gradients))};
}

}  // namespace

void validate(const MemoryOptions& options) {
  Complaints found;
  if (options.zero < 0 || options.zero > 3)
    found.add("zero", fmt::format("expected a stage of ZeRO from 0 to 3, got {}", options.zero));
  const auto at_least = [&](const char* key, std::int64_t value, std::int64_t least) {
    if (value < least) found.add(key, fmt::format("expected at least {}, got {}", least, value));
  };
  at_least("dense_shards", options.dense_shards, 1);
  at_least("expert_shards", options.expert_shards, 1);
  at_least("gathered_layers", options.gathered_layers, 1);
  at_least("widths.weights", options.widths.weights, 0);
  at_least("widths.gradients", options.widths.gradients, 0);
  at_least("widths.optimizer", options.widths.optimizer, 0);
  found.throw_if_any();
}

StateBytes state_bytes(std::int64_t parameters, std::int64_t shards, const MemoryOptions& options) {
  const auto bytes = [&](int from_stage, std::int64_t width) {
    return Bytes{options.zero >= from_stage ? share(parameters, shards) : parameters} * width;
  };
  return {bytes(3, options.widths.weights), bytes(2, options.widths.gradients), bytes(1, options.widths.optimizer)};
}

ActivationBytes layer_activations(const TransformerModel& model, std::int64_t layer, const MicroBatch& work,
                                  Recomputation recomputation) {
  KeptTensors kept{model, work, recomputation};
  kept.layer(layer);
  return kept.sum();
}

Bytes activations_again(const TransformerModel& model, std::int64_t layer, const MicroBatch& work,
                        Recomputation recomputation) {
  if (recomputation == Recomputation::none) return {};
  const Bytes whole = layer_activations(model, layer, work, Recomputation::none).kept();
  if (computes_layers_again(recomputation)) return whole;
  return std::max(Bytes{}, whole - layer_activations(model, layer, work, recomputation).kept());
}

ActivationBytes embedding_activations(const TransformerModel& model, const MicroBatch& work) {
  KeptTensors kept{model, work, Recomputation::none};
  kept.embedding();
  return kept.sum();
}

ActivationBytes head_activations(const TransformerModel& model, const MicroBatch& work, Recomputation recomputation) {
  KeptTensors kept{model, work, recomputation};
  kept.head();
  for (std::int64_t i = 0; i < model.mtp_layers; ++i) kept.prediction_module();
  return kept.sum();
}

ActivationBytes stage_activations(const TransformerModel& model, const LayerRange& stage, const MicroBatch& work,
                                  Recomputation recomputation) {
  ActivationBytes all;
  const auto add = [&](const ActivationBytes& part) {
    all.until_input += part.until_input;
    all.until_weight += part.until_weight;
    all.output_gradients += part.output_gradients;
  };
  if (stage.embedding) add(embedding_activations(model, work));
  for (std::int64_t i = stage.first; i < stage.last; ++i) add(layer_activations(model, i, work, recomputation));
  if (stage.head) add(head_activations(model, work, recomputation));
  return all;
}

GpuMemory gpu_memory(const TransformerModel& model, const MicroBatch& work, std::span<const HeldStage> stages,
                     const MemoryOptions& options) {
  GpuMemory memory;
  RankParameters stored;
  RankParameters layer;      // the largest
  std::int64_t largest = 0;  // unit with dense parameters: a layer, the embedding or the head
  const auto stored_in = [&](const LayerRange& range) { return rank_parameters(model, range, work.split); };
  for (const HeldStage& stage : stages) {
    const LayerRange& range = stage.range;
    const RankParameters each = stored_in(range);
    stored.dense += each.dense;
    stored.experts += each.experts;
    memory.activations += stage_activations(model, range, work, options.recomputation).kept() * stage.micro_batches;
    if (range.head) memory.working = std::max(memory.working, loss_tensors(model, work));
    for (std::int64_t i = range.first; i < range.last; ++i) {
      const RankParameters one = stored_in({i, i + 1});
      layer.dense = std::max(layer.dense, one.dense);
      layer.experts = std::max(layer.experts, one.experts);
      memory.working = std::max(memory.working, activations_again(model, i, work, options.recomputation));
    }
    if (range.embedding) largest = std::max(largest, stored_in({0, 0, true, false}).dense);
    if (range.head) largest = std::max(largest, head_unit(model, work.split));
  }
  largest = std::max(largest, layer.dense);

  const auto add = [&](std::int64_t parameters, std::int64_t unit, std::int64_t next, std::int64_t shards) {
    const StateBytes states = state_bytes(parameters, shards, options);
    memory.weights += states.weights;
    memory.gradients += states.gradients;
    memory.optimizer += states.optimizer;
    if (options.zero < 3 || shards == 1) return;
    memory.gathered += (Bytes{unit} + Bytes{next} * (options.gathered_layers - 1)) * activation_bytes(work.type);
    memory.gathered += Bytes{unit} * options.widths.gradients;
  };
  if (work.trained.is_part()) {
    add_parts(model, work, stages, options, memory);
    return memory;
  }
  add(stored.dense, largest, layer.dense, options.dense_shards);
  add(stored.experts, layer.experts, layer.experts, options.expert_shards);
  return memory;
}

}  // namespace contend
