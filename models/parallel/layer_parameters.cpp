#include "models/parallel/transformer.hpp"

#include <algorithm>

namespace contend {

namespace {

/// Parameters of a normalization of `width` numbers.
std::int64_t norm_parameters(const TransformerModel& model, std::int64_t width) {
  switch (model.norm) {
    case NormKind::layer:
      return 2 * width;
    case NormKind::layer_without_parameters:
      return 0;
    default:
      return width;
  }
}

/// Adds normalizations of the hidden state, which every rank has whole.
void add_norms(const TransformerModel& model, std::int64_t count, ParameterSplit& split) {
  split.whole += count * norm_parameters(model, model.hidden);
  split.tensors += count * norm_parameters(model, 1);
}

/// What makes one key of `size` numbers out of several tokens: two products, a table of places, a norm.
void add_compression(const TransformerModel& model, const LatentAttention& latent, std::int64_t size,
                     ParameterSplit& split) {
  const std::int64_t columns = (latent.overlapping ? 2 : 1) * size;
  split.whole += 2 * model.hidden * columns + latent.compressed_tokens * columns + norm_parameters(model, size);
  split.tensors += 3 + norm_parameters(model, 1);
}

ParameterSplit latent_attention(const TransformerModel& model, const TransformerLayer& kind,
                                const LatentAttention& latent) {
  const std::int64_t h = model.hidden;
  ParameterSplit split;
  // The products to the short vectors and their norms are whole on every rank; those from them are divided by heads.
  if (latent.query_rank > 0) {
    split.whole += h * latent.query_rank + norm_parameters(model, latent.query_rank);
    split.divided += latent.query_rank * kind.query_width();
    split.tensors += 2 + norm_parameters(model, 1);
  } else {
    split.divided += h * kind.query_width();
    ++split.tensors;
  }
  split.whole += h * (latent.key_value_rank + latent.rotary_size);
  split.tensors += 2 + norm_parameters(model, 1);
  if (latent.shared_by_heads) {
    split.whole += norm_parameters(model, latent.key_value_rank + latent.rotary_size);
  } else {
    split.whole += norm_parameters(model, latent.key_value_rank);
    split.divided += latent.key_value_rank * kind.heads * (latent.plain_size + latent.value_size);
    ++split.tensors;
  }
  if (latent.output_groups > 0) {
    split.divided += latent.output_rank * (kind.context_width() + latent.output_groups * h);
    ++split.tensors;
  } else {
    split.divided += kind.context_width() * h;
  }
  if (latent.compressed_tokens > 0) add_compression(model, latent, latent.query_size(), split);
  return split;
}

/// Queries and the weights of their heads; a key of each token with its layer normalization, or a compressed one.
ParameterSplit sparse_index(const TransformerModel& model, const TransformerLayer& kind, const SparseIndex& index) {
  ParameterSplit split;
  const std::int64_t input = kind.latent && kind.latent->query_rank > 0 ? kind.latent->query_rank : model.hidden;
  split.whole = input * index.heads * index.size + model.hidden * index.heads;
  split.tensors = 2;
  if (kind.latent && kind.latent->compressed_tokens > 0) {
    add_compression(model, *kind.latent, index.size, split);
  } else {
    split.whole += model.hidden * index.size + 2 * index.size;
    split.tensors += 3;
  }
  return split;
}

/// Self-attention, or attention to the encoder, which has the same shapes.
ParameterSplit head_attention(const TransformerModel& model, const TransformerLayer& kind) {
  const std::int64_t columns = kind.projected_width();
  ParameterSplit split;
  split.divided = model.hidden * columns + kind.context_width() * model.hidden;
  const std::int64_t products = kind.shares_keys ? 1 : kind.values_are_keys ? 2 : 3;
  split.tensors = products + 1;
  if (has(kind.biases, ProductBiases::qkv)) {
    split.divided += columns;
    split.tensors += products;
  }
  if (has(kind.biases, ProductBiases::output)) {
    split.whole += model.hidden;
    ++split.tensors;
  }
  if (kind.query_key_norms) {
    const std::int64_t sides = kind.shares_keys ? 1 : 2;
    if (kind.wide_norms)
      split.divided += kind.query_width() + (kind.shares_keys ? 0 : kind.key_width());
    else
      split.whole += sides * kind.head_size;
    split.tensors += sides;
  }
  return split;
}

/// Mamba's first form: steps, keys and queries come out of the convolved input.
ParameterSplit selective_recurrence(const TransformerModel& model, const Recurrence& sizes) {
  const std::int64_t width = sizes.value_width(), chosen = sizes.step_rank + 2 * sizes.key_size;
  ParameterSplit split;
  split.divided = model.hidden * 2 * width + width * (sizes.convolution + (sizes.convolution_bias ? 1 : 0));
  split.divided += width * chosen + sizes.step_rank * width + width + width * sizes.key_size + width;
  split.divided += width * model.hidden;
  split.tensors = 8 + (sizes.convolution_bias ? 1 : 0);
  if (sizes.step_norms) {
    split.whole += chosen;
    split.tensors += 3;
  }
  return split;
}

ParameterSplit recurrence(const TransformerModel& model, const Recurrence& sizes) {
  if (sizes.step_rank > 0) return selective_recurrence(model, sizes);
  const std::int64_t h = model.hidden, width = sizes.value_width();
  ParameterSplit split;
  split.divided = h * sizes.input_width() + width * h + sizes.scalars * sizes.heads;
  split.tensors = 2 + sizes.scalars;
  if (sizes.convolution > 0) {
    split.divided += sizes.channels() * (sizes.convolution + (sizes.convolution_bias ? 1 : 0));
    split.tensors += sizes.convolution_bias ? 2 : 1;
  }
  if (sizes.product_biases) {
    split.divided += sizes.input_width();
    split.whole += h;
    split.tensors += 2;
  }
  if (sizes.gate_rank > 0) {
    split.whole += h * sizes.gate_rank;
    split.divided += sizes.gate_rank * width;
    split.tensors += 2;
  }
  if (sizes.decay_rank > 0) {
    split.whole += h * sizes.decay_rank;
    split.divided += sizes.decay_rank * sizes.key_width() + sizes.key_width();
    split.tensors += 3;
  }
  // The norm of one head is the norm of all; a norm of all heads is cut by heads.
  (sizes.norm_size == width ? split.divided : split.whole) += sizes.norm_size;
  if (sizes.norm_size > 0) ++split.tensors;
  return split;
}

ParameterSplit dense_feed_forward(const TransformerModel& model, const TransformerLayer& kind, std::int64_t width,
                                  std::int64_t ends) {
  ParameterSplit split;
  split.tensors = kind.gated ? 3 : 2;
  split.divided = split.tensors * ends * width;
  if (has(kind.biases, ProductBiases::feed_forward)) {
    split.divided += (kind.gated ? 2 : 1) * width;
    split.whole += model.hidden;
    split.tensors *= 2;
  }
  return split;
}

ParameterSplit expert(const TransformerModel& model, const TransformerLayer& kind) {
  return dense_feed_forward(model, kind, kind.mixture->expert_feed_forward, kind.mixture->expert_width(model.hidden));
}

ParameterSplit mixture_feed_forward(const TransformerModel& model, const TransformerLayer& kind) {
  const MixtureOfExperts& mixture = *kind.mixture;
  ParameterSplit split;
  split.whole = model.hidden * mixture.experts + (mixture.router_bias ? mixture.experts : 0);
  split.tensors = mixture.router_bias ? 2 : 1;
  if (mixture.score_bias) {
    split.whole += mixture.experts;
    ++split.tensors;
  }
  const ParameterSplit one = expert(model, kind);
  split.experts = mixture.experts * one.total();
  split.expert_tensors = mixture.experts * one.tensors;
  if (mixture.shared_feed_forward > 0)
    split += dense_feed_forward(model, kind, mixture.shared_feed_forward, model.hidden);
  if (mixture.shared_gate) {
    split.whole += model.hidden;
    ++split.tensors;
  }
  if (mixture.latent > 0) {
    split.whole += 2 * model.hidden * mixture.latent;
    split.tensors += 2;
  }
  if (mixture.scales > 0) {
    split.whole += mixture.scales;
    ++split.tensors;
  }
  return split;
}

/// Those that take no part in the pass of one token.
std::int64_t idle_parameters(const TransformerModel& model, const TransformerLayer& kind) {
  if (!kind.mixture) return 0;
  const MixtureOfExperts& mixture = *kind.mixture;
  return (mixture.experts - mixture.top_k) * expert(model, kind).total() + (mixture.router_bias ? mixture.experts : 0);
}

/// What mixes the streams of a model in front of one half of a layer and behind it: three products of all streams at
/// once with their biases and scales.
void add_streams(const TransformerModel& model, std::int64_t halves, ParameterSplit& split) {
  if (model.streams == 1) return;
  const std::int64_t mixed = (2 + model.streams) * model.streams;
  split.whole += halves * (mixed * model.streams * model.hidden + mixed + 3);
  split.tensors += halves * 3;
}

}  // namespace

ParameterSplit kind_parameters(const TransformerModel& model, const TransformerLayer& kind) {
  ParameterSplit split;
  if (kind.recurrence && kind.attends)
    split = recurrence(model, *kind.recurrence);
  else if (kind.attends)
    split = kind.latent ? latent_attention(model, kind, *kind.latent) : head_attention(model, kind);
  if (kind.has_attention()) {
    if (kind.index) split += sparse_index(model, kind, *kind.index);
    if (kind.sinks) {
      split.divided += kind.heads;
      ++split.tensors;
    }
  }
  if (kind.mixture)
    split += mixture_feed_forward(model, kind);
  else if (kind.feed_forward > 0)
    split += dense_feed_forward(model, kind, kind.feed_forward, model.hidden);
  add_norms(model, kind.attention_norms + kind.feed_forward_norms, split);
  add_streams(model, (kind.attends ? 1 : 0) + (kind.has_feed_forward() ? 1 : 0), split);
  if (model.layer_inputs > 0) {
    split.whole += 2 * model.hidden * model.layer_inputs;
    split.tensors += 2;
    add_norms(model, 1, split);
  }
  return split;
}

ParameterSplit layer_parameters(const TransformerModel& model, std::int64_t layer) {
  const TransformerLayer& kind = model.kind_of(layer);
  ParameterSplit split = kind_parameters(model, kind);
  if (model.has_cross_attention(layer)) {
    split += head_attention(model, kind);
    add_norms(model, 1, split);
  }
  if (layer + 1 == model.encoder_layers && model.final_norm) add_norms(model, 1, split);
  if ((layer == 0 || layer == model.encoder_layers) && model.relative_buckets > 0) {
    split.divided += model.relative_buckets * model.heads;
    ++split.tensors;
  }
  return split;
}

ParameterSplit embedding_parameters(const TransformerModel& model) {
  ParameterSplit split;
  split.divided = model.vocabulary * model.hidden;
  split.whole = (model.positions + model.token_types) * model.hidden;
  split.tensors = 1 + (model.positions > 0 ? 1 : 0) + (model.token_types > 0 ? 1 : 0);
  if (model.embedding_norm) add_norms(model, 1, split);
  if (model.layer_inputs > 0) {
    const std::int64_t width = model.layers * model.layer_inputs;
    split.whole += (model.layer_vocabulary + model.hidden) * width + norm_parameters(model, model.layer_inputs);
    split.tensors += 3;
  }
  return split;
}

ParameterSplit head_parameters(const TransformerModel& model) {
  ParameterSplit split;
  if (model.head == OutputHead::untied) {
    split.divided = model.vocabulary * model.hidden;
    split.tensors = 1;
  }
  if (model.head_bias) {
    split.whole += model.vocabulary;
    ++split.tensors;
  }
  if (model.final_norm) add_norms(model, 1, split);
  if (model.pooler) {
    split.whole += model.hidden * model.hidden + model.hidden;
    split.tensors += 2;
  }
  if (model.streams > 1) {
    split.whole += model.streams * model.streams * model.hidden + model.streams + 1;
    split.tensors += 3;
  }
  return split;
}

ParameterSplit mtp_parameters(const TransformerModel& model) {
  ParameterSplit split;
  if (model.mtp_pattern.empty()) split = layer_parameters(model, model.all_layers() - 1);
  for (const std::uint16_t kind : model.mtp_pattern) split += kind_parameters(model, model.kind(kind));
  split.divided += 2 * model.hidden * model.hidden;
  ++split.tensors;
  add_norms(model, 3, split);
  return split;
}

std::int64_t tied_elements(const TransformerModel& model) {
  return model.head == OutputHead::tied ? model.vocabulary * model.hidden : 0;
}

std::int64_t parameters(const TransformerModel& model) {
  ParameterSplit split = embedding_parameters(model);
  split += head_parameters(model);
  for (std::int64_t i = 0; i < model.all_layers(); ++i) split += layer_parameters(model, i);
  return split.total();
}

std::int64_t parameters(const Tower& tower) {
  ParameterSplit split;
  for (std::int64_t i = 0; i < tower.stack.layers; ++i) split += layer_parameters(tower.stack, i);
  return split.total() + tower.outside;
}

std::int64_t active_parameters(const TransformerModel& model) {
  std::int64_t active = parameters(model);
  for (std::int64_t i = 0; i < model.all_layers(); ++i) active -= idle_parameters(model, model.kind_of(i));
  return active;
}

ParameterSplit stage_parameters(const TransformerModel& model, const LayerRange& stage) {
  ParameterSplit split;
  if (stage.embedding) split += embedding_parameters(model);
  for (std::int64_t i = stage.first; i < stage.last; ++i) split += layer_parameters(model, i);
  if (stage.head) {
    split += head_parameters(model);
    for (std::int64_t i = 0; i < model.mtp_layers; ++i) split += mtp_parameters(model);
    // The head of a model with multi-token prediction needs the embedding as well; a stage has it once.
    const std::int64_t again = model.mtp_layers > 0 ? model.vocabulary * model.hidden : tied_elements(model);
    if (!stage.embedding && again > 0) {
      split.divided += again;
      ++split.tensors;
    }
  }
  return split;
}

}  // namespace contend
