#include "models/parallel/flops.hpp"

#include <array>

namespace contend {

namespace {

/// Multiply-adds of a forward pass.
struct ForwardProducts {
  double layers_by_token = 0;   ///< products with weights
  double layers_by_square = 0;  ///< of queries with keys, of weights with values
  double modules_by_token = 0;  ///< those of `layers_by_token` that are in modules of the recomputation
  double logits_by_token = 0;
};

/// The width of all feed-forwards that a token passes through in the layer.
double used_feed_forward(const TransformerModel& model, std::int64_t layer) {
  if (!model.is_mixture(layer)) return static_cast<double>(model.feed_forward);
  return static_cast<double>(model.mixture->top_k * model.mixture->expert_feed_forward +
                             model.mixture->shared_feed_forward);
}

/// Of latent attention: what makes queries, keys and values out of the short vectors.
double up_matrices(const TransformerModel& model) {
  const LatentAttention& latent = *model.latent;
  const std::int64_t query = (latent.query_rank > 0 ? latent.query_rank : model.hidden) * model.query_width();
  return static_cast<double>(query + latent.key_value_rank * model.heads * (latent.plain_size + latent.value_size));
}

double attention_matrices(const TransformerModel& model) {
  const auto h = static_cast<double>(model.hidden);
  const double output = static_cast<double>(model.context_width()) * h;
  if (!model.latent)
    return h * static_cast<double>(model.query_width() + model.key_width() + model.value_width()) + output;
  const LatentAttention& latent = *model.latent;
  const double down = h * static_cast<double>(latent.query_rank + latent.key_value_rank + latent.rotary_size);
  return down + up_matrices(model) + output;
}

class ProductCount {
 public:
  ProductCount(const TransformerModel& model, FlopsConvention convention, Recomputation recomputation)
      : model_{model}, convention_{convention}, recomputation_{recomputation} {}

  ForwardProducts count() {
    for (std::int64_t i = 0; i < model_.all_layers(); ++i) layer(i);
    const auto h = static_cast<double>(model_.hidden);
    for (std::int64_t i = 0; i < model_.mtp_layers; ++i) {
      layer(model_.all_layers() - 1);
      sum_.layers_by_token += 2 * h * h;
    }
    if (model_.head != OutputHead::none)
      sum_.logits_by_token = static_cast<double>(1 + model_.mtp_layers) * h * static_cast<double>(model_.vocabulary);
    return sum_;
  }

 private:
  void layer(std::int64_t index) {
    const double matrices = model_.gated ? 3 : 2;
    sum_.layers_by_token += attention_matrices(model_);
    sum_.layers_by_token += matrices * static_cast<double>(model_.hidden) * used_feed_forward(model_, index);
    if (model_.latent && repeats(recomputation_, Recomputation::mla_up_proj))
      sum_.modules_by_token += up_matrices(model_);
    sum_.modules_by_token += matrices * static_cast<double>(model_.hidden) * repeated_feed_forward(index);
    const auto pairs = static_cast<double>(model_.query_width() + model_.context_width());
    const bool half = convention_ == FlopsConvention::causal && model_.is_causal(index);
    sum_.layers_by_square += half ? pairs / 2 : pairs;
    if (!model_.has_cross_attention(index)) return;
    sum_.layers_by_token += attention_matrices(model_);
    sum_.layers_by_square += pairs;
  }

  /// The width of the feed-forwards of the layer that are in a module.
  [[nodiscard]] double repeated_feed_forward(std::int64_t layer) const {
    const bool is_mixture = model_.is_mixture(layer);
    if (repeats(recomputation_, is_mixture ? Recomputation::moe : Recomputation::mlp))
      return used_feed_forward(model_, layer);
    if (!is_mixture || !repeats(recomputation_, Recomputation::shared_experts)) return 0;
    return static_cast<double>(model_.mixture->shared_feed_forward);
  }

  const TransformerModel& model_;
  FlopsConvention convention_;
  Recomputation recomputation_;
  ForwardProducts sum_;
};

constexpr std::array kConventions = {FlopsConvention::recomputed, FlopsConvention::full, FlopsConvention::causal};

}  // namespace

std::string_view to_string(FlopsConvention convention) {
  switch (convention) {
    case FlopsConvention::recomputed:
      return "recomputed";
    case FlopsConvention::full:
      return "full";
    case FlopsConvention::causal:
      return "causal";
  }
  return "unknown";
}

std::span<const FlopsConvention> flops_conventions() {
  return kConventions;
}

double model_flops(const TransformerModel& model, const SequenceSums& sequences, FlopsConvention convention) {
  const bool twice = convention == FlopsConvention::recomputed;
  return hardware_flops(model, sequences, convention, twice ? Recomputation::full : Recomputation::none);
}

double hardware_flops(const TransformerModel& model, const SequenceSums& sequences, FlopsConvention convention,
                      Recomputation recomputation) {
  const ForwardProducts products = ProductCount{model, convention, recomputation}.count();
  const double matrices = 2 * products.layers_by_token * sequences.tokens;
  const double attention = 2 * products.layers_by_square * sequences.squares;
  const double logits = 2 * products.logits_by_token * sequences.tokens;
  double flops = 3 * (matrices + attention + logits);
  const bool is_full = recomputation == Recomputation::full;
  double again = is_full ? matrices : 2 * products.modules_by_token * sequences.tokens;
  if (repeats(recomputation, Recomputation::core_attn)) again += attention;
  flops += again;
  if (recomputation == Recomputation::operators) {
    // Keys, output and, of gated feed-forwards, what goes up beside the gate.
    const auto h = static_cast<double>(model.hidden);
    const auto columns =
        static_cast<double>(model.key_width() + model.context_width() + (model.gated ? model.feed_forward : 0));
    flops += 2 * h * columns * static_cast<double>(model.layers) * sequences.tokens;
  }
  return flops;
}

}  // namespace contend
