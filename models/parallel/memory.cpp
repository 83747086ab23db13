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

Bytes bytes_up(double value) {
  if (!(value < 0x1p63)) throw_bytes_overflow();
  return Bytes{static_cast<std::int64_t>(std::ceil(value))};
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
    return {bytes_up(until_input_), bytes_up(until_weight_), bytes_up(gradients_)};
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
    // If nothing in front of the head is trained, nothing needs anything of the module but its logits.
    if (work_.trained.backward(model_, TrainedPart::kHead) == BackwardPart::weights) return head();
    unit_ = model_.all_layers() - 1;
    norm(hidden());
    norm(hidden());
    product_ends("prediction_input", own_, 2 * hidden(), own_, hidden());
    for (const std::uint16_t each : model_.module_kinds()) {
      kind_ = &model_.kind(each);
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
    drop_norm_output(kind_->feed_forward_norms, behind_feed_forward_norm());
    residual_dropout();
  }

  /// The products whose adapters read the output of the norm in front of attention and of the feed-forward.
  [[nodiscard]] std::string_view behind_attention_norm() const {
    if (kind_->recurrence) return "recurrence_input";
    if (!kind_->latent) return "qkv";
    return kind_->latent->query_rank > 0 ? "key_value_down" : "query";
  }
  [[nodiscard]] std::string_view behind_feed_forward_norm() const {
    if (!kind_->mixture) return "up";
    return work_.trained.adapter && kind_->mixture->shared_feed_forward > 0 ? "shared_up" : "router";
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
  /// What adapters need of the input of a product that shares its input with another one, which keeps it if all
  /// weights are trained.
  void keep_for_adapters(double rows, double width, std::string_view product) {
    if (work_.trained.adapter) keep_input(rows, width, product);
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
    drop_norm_output(is_cross ? 0 : kind_->attention_norms, behind_attention_norm());
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
      keep_for_adapters(own_, hidden(), "query");
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

  /// The input of the layer, the outputs of attention and of the first, third, fifth and seventh product, and the
  /// outputs of reduce-scatters (Recomputation::operators).
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
    if (mixture.shared_feed_forward > 0) keep_for_adapters(own_, hidden(), "shared_up");
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

std::int64_t share(std::int64_t parameters, std::int64_t shards) {
  return (parameters + shards - 1) / shards;
}

/// What stages hold of dense weights, or of experts, and the most that is there of them in full with ZeRO-3: the
/// weights of a unit and of the layers on their way, and gradients.
class SharedStates {
 public:
  SharedStates(const MemoryOptions& options, DataType type, std::int64_t shards)
      : options_{options}, width_{real_number(activation_bytes(type))}, shards_{shards} {}

  void stage(std::int64_t trained, double frozen) {
    trained_ += trained;
    frozen_ += frozen;
  }
  void unit(std::int64_t trained, double frozen, bool is_layer) {
    const double weights = frozen + width_ * real_number(trained);
    largest_ = std::max(largest_, weights);
    if (is_layer) layer_ = std::max(layer_, weights);
    gradients_ = std::max(gradients_, trained);
  }

  void add_to(GpuMemory& memory) const {
    const StateBytes states = state_bytes(trained_, shards_, options_);
    memory.weights += states.weights;
    memory.weights += bytes_up(options_.zero == 3 ? frozen_ / real_number(shards_) : frozen_);
    memory.gradients += states.gradients;
    memory.optimizer += states.optimizer;
    if (options_.zero < 3 || shards_ == 1) return;
    memory.gathered += bytes_up(largest_ + layer_ * real_number(options_.gathered_layers - 1));
    memory.gathered += Bytes{gradients_} * options_.widths.gradients;
  }

 private:
  const MemoryOptions& options_;
  double width_;  // bytes of a weight in use
  std::int64_t shards_;
  std::int64_t trained_ = 0, gradients_ = 0;     // parameters; of the unit that has most
  double frozen_ = 0, largest_ = 0, layer_ = 0;  // bytes; of the largest unit, and of the largest layer
};

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
  // Of modules of multi-token prediction no list of a layer runs again.
  KeptTensors kept{model, work, computes_layers_again(recomputation) ? Recomputation::none : recomputation};
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
  SharedStates dense{options, work.type, options.dense_shards}, experts{options, work.type, options.expert_shards};
  const auto held = [&](const TransformerModel& of, const LayerRange& part) {
    return held_weights(of, part, work.split, work.trained, work.type);
  };
  const auto add_unit = [&](const HeldWeights& unit, bool is_layer) {
    dense.unit(unit.trained.dense, unit.frozen_dense, is_layer);
    experts.unit(unit.trained.experts, unit.frozen_experts, is_layer);
  };
  TransformerModel without_modules = model;
  without_modules.mtp_layers = 0;
  for (const HeldStage& stage : stages) {
    const LayerRange& range = stage.range;
    const HeldWeights all = held(model, range);
    dense.stage(all.trained.dense, all.frozen_dense);
    experts.stage(all.trained.experts, all.frozen_experts);
    memory.activations += stage_activations(model, range, work, options.recomputation).kept() * stage.micro_batches;
    if (range.head) memory.working = std::max(memory.working, loss_tensors(model, work));
    for (std::int64_t i = range.first; i < range.last; ++i) {
      add_unit(held(model, {i, i + 1}), true);
      memory.working = std::max(memory.working, activations_again(model, i, work, options.recomputation));
    }
    if (range.embedding) add_unit(held(model, {0, 0, true, false}), false);
    // The final norm and the matrix of the head, whoever else uses that matrix.
    if (range.head) add_unit(held(without_modules, {0, 0, false, true}), false);
  }
  dense.add_to(memory);
  experts.add_to(memory);
  return memory;
}

}  // namespace contend
