#include "models/parallel/weight_tensors.hpp"

#include <utility>

namespace contend {
namespace {

/// True if a stage with the head needs the table of tokens: for the logits, or for modules of multi-token prediction.
bool needs_table(const TransformerModel& model) {
  return model.mtp_layers > 0 || model.head == OutputHead::tied;
}

/// Names the tensors of the parts of a model to `Add`, one after the other.
template <class Add>
class TensorWalk {
 public:
  TensorWalk(const TransformerModel& model, Add add) : model_{model}, add_{std::move(add)} {}

  void layer(std::int64_t index) {
    kind(model_.kind_of(index));
    if (model_.has_cross_attention(index)) {
      heads(model_.kind_of(index));
      norm(model_.hidden, 1);
    }
    if (index + 1 == model_.encoder_layers && model_.final_norm) norm(model_.hidden, 1);
    if ((index == 0 || index == model_.encoder_layers) && model_.relative_buckets > 0)
      add({WeightGroup::relative, model_.relative_buckets, model_.heads, 1, TensorCut::columns});
  }

  void embedding() {
    table(WeightGroup::embedding);
    for (const std::int64_t rows : {model_.positions, model_.token_types})
      if (rows > 0) add({WeightGroup::embedding, rows, model_.hidden});
    if (model_.embedding_norm) norm(model_.hidden, 1);
    if (model_.layer_inputs == 0) return;
    const std::int64_t width = model_.layers * model_.layer_inputs;
    add({WeightGroup::embedding, model_.layer_vocabulary, width});
    add({WeightGroup::embedding, width, model_.hidden});
    norm(model_.layer_inputs, 1);
  }

  void head() {
    if (model_.head == OutputHead::untied) table(WeightGroup::head);
    if (model_.head_bias) vector(model_.vocabulary);
    if (model_.final_norm) norm(model_.hidden, 1);
    if (model_.pooler) {
      add({WeightGroup::head, model_.hidden, model_.hidden});
      vector(model_.hidden);
    }
    if (model_.streams == 1) return;
    add({WeightGroup::head, model_.streams, model_.streams * model_.hidden});
    vector(model_.streams);
    vector(1);
  }

  void prediction_module() {
    if (model_.mtp_pattern.empty()) layer(model_.all_layers() - 1);
    for (const std::uint16_t each : model_.mtp_pattern) kind(model_.kind(each));
    add({WeightGroup::prediction, model_.hidden, 2 * model_.hidden, 1, TensorCut::rows});
    norm(model_.hidden, 3);
  }

  void table(WeightGroup group) {
    add({.group = group, .rows = model_.vocabulary, .columns = model_.hidden, .cut = TensorCut::rows, .padded = true});
  }

  void kind(const TransformerLayer& kind) {
    if (kind.recurrence && kind.attends)
      recurrence(*kind.recurrence);
    else if (kind.attends && kind.latent)
      latent(kind, *kind.latent);
    else if (kind.attends)
      heads(kind);
    if (kind.has_attention()) {
      if (kind.index) index(kind, *kind.index);
      if (kind.sinks) vector(kind.heads, TensorCut::rows);
    }
    if (kind.mixture)
      mixture(kind, *kind.mixture);
    else if (kind.feed_forward > 0)
      feed_forward(kind, kind.feed_forward, model_.hidden, 1, false);
    norm(model_.hidden, kind.attention_norms + kind.feed_forward_norms);
    if (model_.streams > 1) streams((kind.attends ? 1 : 0) + (kind.has_feed_forward() ? 1 : 0));
    if (model_.layer_inputs == 0) return;
    add({WeightGroup::gate, model_.layer_inputs, model_.hidden});
    add({WeightGroup::up, model_.hidden, model_.layer_inputs});
    norm(model_.hidden, 1);
  }

 private:
  void add(const WeightTensor& tensor) { add_(tensor); }
  void vector(std::int64_t numbers, TensorCut cut = TensorCut::none) {
    if (numbers > 0) add({WeightGroup::bias, numbers, 1, 1, cut});
  }
  void norm(std::int64_t width, std::int64_t count) {
    const std::int64_t vectors = model_.norm == NormKind::layer                      ? 2
                                 : model_.norm == NormKind::layer_without_parameters ? 0
                                                                                     : 1;
    if (vectors * count > 0) add({WeightGroup::norm, width, 1, count * vectors});
  }
  /// A product of which ranks compute parts of the outputs, with its bias.
  void by_outputs(WeightGroup group, std::int64_t outputs, std::int64_t inputs, bool bias = false) {
    if (outputs == 0) return;
    add({group, outputs, inputs, 1, TensorCut::rows});
    if (bias) add({WeightGroup::bias, outputs, 1, 1, TensorCut::rows});
  }

  /// Products of all streams at once, their biases and scales.
  void streams(std::int64_t halves) {
    const std::int64_t mixed = (2 + model_.streams) * model_.streams;
    add({WeightGroup::latent, mixed, model_.streams * model_.hidden, halves});
    add({WeightGroup::bias, mixed, 1, halves});
    add({WeightGroup::bias, 3, 1, halves});
  }

  void heads(const TransformerLayer& kind) {
    const std::int64_t hidden = model_.hidden;
    const bool bias = has(kind.biases, ProductBiases::qkv);
    by_outputs(WeightGroup::query, kind.query_width() + kind.gate_width, hidden, bias);
    if (!kind.shares_keys) {
      by_outputs(WeightGroup::key, kind.key_width(), hidden, bias);
      if (!kind.values_are_keys) by_outputs(WeightGroup::value, kind.value_width(), hidden, bias);
    }
    if (kind.query_key_norms && kind.wide_norms) {
      add({WeightGroup::norm, kind.query_width(), 1, 1, TensorCut::rows});
      if (!kind.shares_keys) add({WeightGroup::norm, kind.key_width(), 1, 1, TensorCut::rows});
    } else if (kind.query_key_norms) {
      add({WeightGroup::norm, kind.head_size, 1, kind.shares_keys ? 1 : 2});
    }
    add({WeightGroup::output, hidden, kind.context_width(), 1, TensorCut::columns});
    if (has(kind.biases, ProductBiases::output)) vector(hidden);
  }

  void latent(const TransformerLayer& kind, const LatentAttention& sizes) {
    if (sizes.query_rank > 0) {
      add({WeightGroup::latent, sizes.query_rank, model_.hidden});
      norm(sizes.query_rank, 1);
    }
    by_outputs(WeightGroup::query, kind.query_width(), sizes.query_rank > 0 ? sizes.query_rank : model_.hidden);
    add({WeightGroup::latent, sizes.key_value_rank + sizes.rotary_size, model_.hidden});
    norm(sizes.key_value_rank + (sizes.shared_by_heads ? sizes.rotary_size : 0), 1);
    if (!sizes.shared_by_heads)
      by_outputs(WeightGroup::latent, kind.heads * (sizes.plain_size + sizes.value_size), sizes.key_value_rank);
    if (sizes.output_groups > 0) {
      // In groups of heads, each with a product of its own, and one product of what these give.
      add({WeightGroup::output, sizes.output_rank, kind.context_width(), 1, TensorCut::columns});
      add({WeightGroup::output, model_.hidden, sizes.output_rank * sizes.output_groups, 1, TensorCut::columns});
    } else {
      add({WeightGroup::output, model_.hidden, kind.context_width(), 1, TensorCut::columns});
    }
    if (sizes.compressed_tokens > 0) compression(sizes, sizes.query_size());
  }

  /// What makes one key of `size` numbers out of several tokens: two products, a table of places, a norm.
  void compression(const LatentAttention& latent, std::int64_t size) {
    const std::int64_t columns = (latent.overlapping ? 2 : 1) * size;
    add({WeightGroup::latent, columns, model_.hidden, 2});
    add({WeightGroup::relative, latent.compressed_tokens, columns});
    norm(size, 1);
  }

  void index(const TransformerLayer& kind, const SparseIndex& sizes) {
    const std::int64_t input = kind.latent && kind.latent->query_rank > 0 ? kind.latent->query_rank : model_.hidden;
    add({WeightGroup::latent, sizes.heads * sizes.size, input});
    add({WeightGroup::latent, sizes.heads, model_.hidden});
    if (kind.latent && kind.latent->compressed_tokens > 0) return compression(*kind.latent, sizes.size);
    add({WeightGroup::latent, sizes.size, model_.hidden});
    add({WeightGroup::norm, sizes.size, 1, 2});
  }

  void recurrence(const Recurrence& sizes) {
    const std::int64_t width = sizes.value_width();
    if (sizes.step_rank > 0) return selective_recurrence(sizes, width);
    by_outputs(WeightGroup::query, sizes.input_width(), model_.hidden, sizes.product_biases);
    if (sizes.scalars > 0) add({WeightGroup::bias, sizes.heads, 1, sizes.scalars, TensorCut::rows});
    convolution(sizes, sizes.channels());
    if (sizes.gate_rank > 0) {
      add({WeightGroup::latent, sizes.gate_rank, model_.hidden});
      by_outputs(WeightGroup::latent, width, sizes.gate_rank);
    }
    if (sizes.decay_rank > 0) {
      add({WeightGroup::latent, sizes.decay_rank, model_.hidden});
      by_outputs(WeightGroup::latent, sizes.key_width(), sizes.decay_rank, true);
    }
    if (sizes.norm_size > 0)
      add({WeightGroup::norm, sizes.norm_size, 1, 1, sizes.norm_size == width ? TensorCut::rows : TensorCut::none});
    add({WeightGroup::output, model_.hidden, width, 1, TensorCut::columns});
    if (sizes.product_biases) vector(model_.hidden);
  }

  void selective_recurrence(const Recurrence& sizes, std::int64_t width) {
    const std::int64_t chosen = sizes.step_rank + 2 * sizes.key_size;
    by_outputs(WeightGroup::query, 2 * width, model_.hidden);
    convolution(sizes, width);
    add({WeightGroup::latent, chosen, width, 1, TensorCut::columns});
    by_outputs(WeightGroup::latent, width, sizes.step_rank, true);
    by_outputs(WeightGroup::relative, width, sizes.key_size);  // logarithms of decays, a table and no product
    vector(width, TensorCut::rows);
    add({WeightGroup::output, model_.hidden, width, 1, TensorCut::columns});
    if (!sizes.step_norms) return;
    add({WeightGroup::norm, sizes.step_rank});
    add({WeightGroup::norm, sizes.key_size, 1, 2});
  }

  /// Of each channel by itself: a table and no product.
  void convolution(const Recurrence& sizes, std::int64_t channels) {
    if (sizes.convolution == 0) return;
    by_outputs(WeightGroup::relative, channels, sizes.convolution, sizes.convolution_bias);
  }

  void feed_forward(const TransformerLayer& kind, std::int64_t width, std::int64_t ends, std::int64_t count,
                    bool experts) {
    if (kind.gated) add({WeightGroup::gate, width, ends, count, TensorCut::rows, experts});
    add({WeightGroup::up, width, ends, count, TensorCut::rows, experts});
    add({WeightGroup::down, ends, width, count, TensorCut::columns, experts});
    if (!has(kind.biases, ProductBiases::feed_forward)) return;
    add({WeightGroup::bias, width, 1, count * (kind.gated ? 2 : 1), TensorCut::rows, experts});
    add({WeightGroup::bias, model_.hidden, 1, count, TensorCut::none, experts});
  }

  void mixture(const TransformerLayer& kind, const MixtureOfExperts& sizes) {
    add({WeightGroup::router, sizes.experts, model_.hidden});
    vector(sizes.router_bias ? sizes.experts : 0);
    vector(sizes.score_bias ? sizes.experts : 0);
    feed_forward(kind, sizes.expert_feed_forward, sizes.expert_width(model_.hidden), sizes.experts, true);
    if (sizes.shared_feed_forward > 0) feed_forward(kind, sizes.shared_feed_forward, model_.hidden, 1, false);
    if (sizes.shared_gate) add({WeightGroup::router, 1, model_.hidden});
    if (sizes.latent > 0) {
      add({WeightGroup::latent, sizes.latent, model_.hidden});
      add({WeightGroup::latent, model_.hidden, sizes.latent});
    }
    vector(sizes.scales);
  }

  const TransformerModel& model_;
  Add add_;
};

/// The tensors that `walks` visits.
template <class Walks>
std::vector<WeightTensor> list_of(const TransformerModel& model, const Walks& walks) {
  std::vector<WeightTensor> tensors;
  TensorWalk walk{model, [&](const WeightTensor& each) { tensors.push_back(each); }};
  walks(walk);
  return tensors;
}

/// Their sums.
template <class Walks>
ParameterSplit sums_of(const TransformerModel& model, const Walks& walks) {
  ParameterSplit split;
  TensorWalk walk{
      model, [&](const WeightTensor& each) {
        (each.experts ? split.experts : each.cut == TensorCut::none ? split.whole : split.divided) += each.elements();
        (each.experts ? split.expert_tensors : split.tensors) += each.count;
      }};
  walks(walk);
  return split;
}

/// The tensors of a stage but its copy of the table of tokens.
template <class Walk>
void visit_stage(const TransformerModel& model, const LayerRange& stage, Walk& walk) {
  if (stage.embedding) walk.embedding();
  for (std::int64_t layer = stage.first; layer < stage.last; ++layer) walk.layer(layer);
  if (!stage.head) return;
  walk.head();
  for (std::int64_t i = 0; i < model.mtp_layers; ++i) walk.prediction_module();
  if (!stage.embedding && needs_table(model)) walk.table(WeightGroup::embedding);
}

}  // namespace

bool WeightTensor::is_hidden() const {
  return rows > 1 && columns > 1 && group != WeightGroup::embedding && group != WeightGroup::head &&
         group != WeightGroup::relative;
}

WeightShape WeightTensor::whole(const LayerSplit& split) const {
  return {rows, columns, experts ? count / split.expert : count, is_hidden()};
}

WeightShape WeightTensor::part(const LayerSplit& split) const {
  WeightShape shape = whole(split);
  const std::int64_t ranks = experts ? split.expert_tensor : split.tensor;
  if (cut == TensorCut::rows) shape.rows = padded ? (rows + ranks - 1) / ranks : rows / ranks;
  if (cut == TensorCut::columns) shape.columns = columns / ranks;
  return shape;
}

std::vector<WeightTensor> layer_tensors(const TransformerModel& model, std::int64_t layer) {
  return list_of(model, [&](auto& walk) { walk.layer(layer); });
}

std::vector<WeightTensor> embedding_tensors(const TransformerModel& model) {
  return list_of(model, [](auto& walk) { walk.embedding(); });
}

std::vector<WeightTensor> head_tensors(const TransformerModel& model) {
  return list_of(model, [](auto& walk) { walk.head(); });
}

std::vector<WeightTensor> mtp_tensors(const TransformerModel& model) {
  return list_of(model, [](auto& walk) { walk.prediction_module(); });
}

std::optional<WeightTensor> table_of_head(const TransformerModel& model) {
  if (!needs_table(model)) return {};
  return list_of(model, [](auto& walk) { walk.table(WeightGroup::embedding); }).front();
}

std::vector<WeightTensor> stage_tensors(const TransformerModel& model, const LayerRange& stage) {
  return list_of(model, [&](auto& walk) { visit_stage(model, stage, walk); });
}

ParameterSplit layer_parameters(const TransformerModel& model, std::int64_t layer) {
  return sums_of(model, [&](auto& walk) { walk.layer(layer); });
}

ParameterSplit kind_parameters(const TransformerModel& model, const TransformerLayer& kind) {
  return sums_of(model, [&](auto& walk) { walk.kind(kind); });
}

ParameterSplit embedding_parameters(const TransformerModel& model) {
  return sums_of(model, [](auto& walk) { walk.embedding(); });
}

ParameterSplit head_parameters(const TransformerModel& model) {
  return sums_of(model, [](auto& walk) { walk.head(); });
}

ParameterSplit mtp_parameters(const TransformerModel& model) {
  return sums_of(model, [](auto& walk) { walk.prediction_module(); });
}

ParameterSplit stage_parameters(const TransformerModel& model, const LayerRange& stage) {
  return sums_of(model, [&](auto& walk) { visit_stage(model, stage, walk); });
}

}  // namespace contend
