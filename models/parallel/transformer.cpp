#include "models/parallel/transformer.hpp"

#include "sim/complaints.hpp"

#include <fmt/core.h>

namespace contend {

namespace {

/// Parameters of a normalization of `width` numbers.
std::int64_t norm_parameters(const TransformerModel& model, std::int64_t width) {
  return model.norm == NormKind::layer ? 2 * width : width;
}

/// Adds normalizations of the hidden state, which every rank has whole.
void add_norms(const TransformerModel& model, int count, ParameterSplit& split) {
  split.whole += count * norm_parameters(model, model.hidden);
  split.tensors += count * norm_parameters(model, 1);
}

ParameterSplit latent_attention(const TransformerModel& model, const LatentAttention& latent) {
  const std::int64_t h = model.hidden;
  ParameterSplit split;
  // The products to the short vectors and their norms are whole on every rank; those from them are divided by heads.
  if (latent.query_rank > 0) {
    split.whole += h * latent.query_rank + norm_parameters(model, latent.query_rank);
    split.divided += latent.query_rank * model.query_width();
    split.tensors += 2 + norm_parameters(model, 1);
  } else {
    split.divided += h * model.query_width();
    ++split.tensors;
  }
  split.whole += h * (latent.key_value_rank + latent.rotary_size) + norm_parameters(model, latent.key_value_rank);
  split.divided += latent.key_value_rank * model.heads * (latent.plain_size + latent.value_size);
  split.divided += model.context_width() * h;
  split.tensors += 3 + norm_parameters(model, 1);
  return split;
}

/// Self-attention, or attention to the encoder, which has the same shapes.
ParameterSplit head_attention(const TransformerModel& model) {
  const std::int64_t qkv_width = model.query_width() + model.key_width() + model.value_width();
  ParameterSplit split;
  split.divided = model.hidden * qkv_width + model.context_width() * model.hidden;
  split.tensors = 4;
  if (model.biases != ProductBiases::none) {
    split.divided += qkv_width;
    split.tensors += 3;
  }
  if (model.biases == ProductBiases::all) {
    split.whole += model.hidden;
    ++split.tensors;
  }
  if (model.query_key_norms) {
    split.whole += 2 * model.head_size;
    split.tensors += 2;
  }
  return split;
}

ParameterSplit dense_feed_forward(const TransformerModel& model, std::int64_t width) {
  ParameterSplit split;
  split.tensors = model.gated ? 3 : 2;
  split.divided = split.tensors * model.hidden * width;
  if (model.biases == ProductBiases::all) {
    split.divided += (model.gated ? 2 : 1) * width;
    split.whole += model.hidden;
    split.tensors *= 2;
  }
  return split;
}

ParameterSplit mixture_feed_forward(const TransformerModel& model, const MixtureOfExperts& mixture) {
  ParameterSplit split;
  split.whole = model.hidden * mixture.experts + (mixture.router_bias ? mixture.experts : 0);
  split.tensors = mixture.router_bias ? 2 : 1;
  const ParameterSplit expert = dense_feed_forward(model, mixture.expert_feed_forward);
  split.experts = mixture.experts * expert.total();
  split.expert_tensors = mixture.experts * expert.tensors;
  if (mixture.shared_feed_forward > 0) split += dense_feed_forward(model, mixture.shared_feed_forward);
  return split;
}

class ModelCheck {
 public:
  explicit ModelCheck(const TransformerModel& model) : model_{model} {}

  void run() {
    sizes();
    if (model_.latent) latent(*model_.latent);
    if (model_.mixture) mixture(*model_.mixture);
    if (model_.encoder_layers > 0 && !model_.causal)
      found_.add("causal", "the decoder behind an encoder is causal, got false");
    found_.throw_if_any();
    count();
    found_.throw_if_any();
  }

 private:
  static constexpr std::int64_t kMostLayers = 100'000;
  static constexpr std::int64_t kMostHeads = 1 << 20;

  void size(const char* key, std::int64_t value, std::int64_t least, std::int64_t most = std::int64_t{1} << 32) {
    if (value < least || value > most)
      found_.add(key, fmt::format("expected a whole number from {} to {}, got {}", least, most, value));
  }

  void sizes() {
    size("layers", model_.layers, 1, kMostLayers);
    size("encoder_layers", model_.encoder_layers, 0, kMostLayers);
    size("hidden", model_.hidden, 1);
    size("heads", model_.heads, 1, kMostHeads);
    size("vocabulary", model_.vocabulary, 1);
    size("positions", model_.positions, 0);
    size("relative_buckets", model_.relative_buckets, 0);
    size("token_types", model_.token_types, 0);
    size("default_sequence", model_.default_sequence, 0);
    size("mtp_layers", model_.mtp_layers, 0, kMostLayers);
    if (!model_.latent) {
      size("head_size", model_.head_size, 1);
      size("key_value_heads", model_.key_value_heads, 1);
      if (model_.heads >= 1 && model_.key_value_heads >= 1 && model_.heads % model_.key_value_heads != 0)
        found_.add("key_value_heads",
                   fmt::format("expected a divisor of the {} heads, got {}", model_.heads, model_.key_value_heads));
    }
    const bool all_mixtures = model_.mixture && model_.mixture->dense_layers == 0;
    size("feed_forward", model_.feed_forward, all_mixtures ? 0 : 1);
  }

  void latent(const LatentAttention& sizes) {
    size("query_rank", sizes.query_rank, 0);
    size("key_value_rank", sizes.key_value_rank, 1);
    size("plain_size", sizes.plain_size, 1);
    size("rotary_size", sizes.rotary_size, 1);
    size("value_size", sizes.value_size, 1);
    if (model_.key_value_heads != model_.heads)
      found_.add("key_value_heads", fmt::format("latent attention has as many as heads, {}; got {}", model_.heads,
                                                model_.key_value_heads));
    if (model_.biases != ProductBiases::none) found_.add("biases", "latent attention has no biases");
    if (model_.query_key_norms) found_.add("query_key_norms", "latent attention has none");
    if (model_.encoder_layers > 0) found_.add("encoder_layers", "latent attention needs a model of one stack");
  }

  void mixture(const MixtureOfExperts& sizes) {
    size("experts", sizes.experts, 1, kMostHeads);
    size("expert_feed_forward", sizes.expert_feed_forward, 1);
    size("shared_feed_forward", sizes.shared_feed_forward, 0);
    if (sizes.top_k < 1 || sizes.top_k > sizes.experts)
      found_.add("top_k", fmt::format("expected 1 to {}, the number of experts, got {}", sizes.experts, sizes.top_k));
    if (sizes.dense_layers < 0 || sizes.dense_layers >= model_.layers)
      found_.add("dense_layers", fmt::format("expected 0 to {}, so that a layer has experts, got {}", model_.layers - 1,
                                             sizes.dense_layers));
    if (sizes.groups < 1 || sizes.experts % sizes.groups != 0)
      found_.add("groups", fmt::format("expected a divisor of the {} experts, got {}", sizes.experts, sizes.groups));
    if (sizes.groups_used < 1 || sizes.groups_used > sizes.groups)
      found_.add("groups_used",
                 fmt::format("expected 1 to {}, the number of groups, got {}", sizes.groups, sizes.groups_used));
    else if (sizes.groups >= 1 && sizes.top_k > sizes.experts / sizes.groups * sizes.groups_used)
      found_.add("top_k", fmt::format("{} of the groups, of {} experts each, can't give {} experts to a token",
                                      sizes.groups_used, sizes.experts / sizes.groups, sizes.top_k));
    if (model_.encoder_layers > 0) found_.add("encoder_layers", "a mixture of experts needs a model of one stack");
  }

  /// In doubles, which don't overflow, that every count fits 64 bits.
  void count() {
    const auto real = [](std::int64_t value) { return static_cast<double>(value); };
    const double h = real(model_.hidden), a = real(model_.heads);
    double attention = h * 4 * a * real(model_.head_size);
    if (model_.latent) {
      const LatentAttention& l = *model_.latent;
      const double q = real(l.query_rank), kv = real(l.key_value_rank), size = real(l.query_size() + l.value_size);
      attention = (h + q + kv) * (a * size + q + kv + size) * 2;
    }
    double width = real(model_.feed_forward);
    if (model_.mixture)
      width += real(model_.mixture->experts) * (1 + real(model_.mixture->expert_feed_forward)) +
               real(model_.mixture->shared_feed_forward);
    const double layer = 2 * attention + 4 * h * width + 2 * h * h + 16 * h;
    const double tables = h * (2 * real(model_.vocabulary) + real(model_.positions) + real(model_.token_types) + h + 8);
    const double total =
        layer * real(model_.all_layers() + model_.mtp_layers) + tables + 2 * a * real(model_.relative_buckets);
    if (total > 0x1p62) found_.add("hidden", fmt::format("the sizes give {:.3g} parameters, more than 2^62", total));
  }

  const TransformerModel& model_;
  Complaints found_;
};

}  // namespace

void validate(const TransformerModel& model) {
  ModelCheck{model}.run();
}

ParameterSplit layer_parameters(const TransformerModel& model, std::int64_t layer) {
  ParameterSplit split = model.latent ? latent_attention(model, *model.latent) : head_attention(model);
  const bool cross = model.has_cross_attention(layer);
  if (cross) split += head_attention(model);
  split += model.is_mixture(layer) ? mixture_feed_forward(model, *model.mixture)
                                   : dense_feed_forward(model, model.feed_forward);
  const bool ends_encoder = layer + 1 == model.encoder_layers && model.final_norm;
  add_norms(model, (cross ? 3 : 2) + (ends_encoder ? 1 : 0), split);
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
  return split;
}

ParameterSplit head_parameters(const TransformerModel& model) {
  ParameterSplit split;
  if (model.head == OutputHead::untied) {
    split.divided = model.vocabulary * model.hidden;
    split.tensors = 1;
  }
  if (model.final_norm) add_norms(model, 1, split);
  if (model.pooler) {
    split.whole += model.hidden * model.hidden + model.hidden;
    split.tensors += 2;
  }
  return split;
}

ParameterSplit mtp_parameters(const TransformerModel& model) {
  ParameterSplit split = layer_parameters(model, model.all_layers() - 1);
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

std::int64_t active_parameters(const TransformerModel& model) {
  std::int64_t active = parameters(model);
  if (model.mixture) {
    const MixtureOfExperts& mixture = *model.mixture;
    const std::int64_t idle =
        (mixture.experts - mixture.top_k) * dense_feed_forward(model, mixture.expert_feed_forward).total();
    const std::int64_t biases = mixture.router_bias ? mixture.experts : 0;
    active -= (model.layers - mixture.dense_layers) * (idle + biases);
  }
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
