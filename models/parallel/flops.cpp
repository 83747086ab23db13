#include "models/parallel/flops.hpp"

#include <algorithm>
#include <array>

namespace contend {

namespace {

/// Multiply-adds: of products with weights, and of queries with keys and of weights with values.
struct Products {
  double by_token = 0, by_square = 0;

  Products& operator+=(const Products& other) {
    by_token += other.by_token;
    by_square += other.by_square;
    return *this;
  }
};

struct ProductSums {
  Products forward;  ///< of layers and of modules of multi-token prediction
  double logits_by_token = 0;
  Products again;    ///< that the backward pass repeats
  Products missing;  ///< of a backward pass with all gradients: of those that nobody computes
};

double real_size(std::int64_t size) {
  return static_cast<double>(size);
}

/// Multiply-adds of a token in all feed-forwards of the layer that it passes through, or in the shared experts only.
/// The product of a router counts nowhere.
double feed_forward_products(const TransformerModel& model, const TransformerLayer& kind, bool only_shared = false) {
  const double matrices = kind.gated ? 3 : 2;
  const double h = real_size(model.hidden);
  if (!kind.mixture) return matrices * h * real_size(kind.feed_forward);
  const MixtureOfExperts& mixture = *kind.mixture;
  const double shared = real_size(mixture.shared_feed_forward);
  if (only_shared) return matrices * h * shared;
  const double routed = real_size(mixture.top_k * mixture.expert_feed_forward);
  if (mixture.latent == 0) return matrices * h * (routed + shared);
  return matrices * (real_size(mixture.latent) * routed + h * shared) + 2 * h * real_size(mixture.latent);
}

/// Of latent attention: what makes queries, keys and values out of the short vectors.
double up_matrices(const TransformerModel& model, const TransformerLayer& kind) {
  const LatentAttention& latent = *kind.latent;
  const std::int64_t query = (latent.query_rank > 0 ? latent.query_rank : model.hidden) * kind.query_width();
  if (latent.shared_by_heads) return real_size(query);
  return real_size(query + latent.key_value_rank * kind.heads * (latent.plain_size + latent.value_size));
}

double latent_matrices(const TransformerModel& model, const TransformerLayer& kind) {
  const LatentAttention& latent = *kind.latent;
  const double h = real_size(model.hidden);
  double output = real_size(kind.context_width()) * h;
  if (latent.output_groups > 0)
    output = real_size(latent.output_rank) * (real_size(kind.context_width()) + real_size(latent.output_groups) * h);
  double down = h * real_size(latent.query_rank + latent.key_value_rank + latent.rotary_size);
  if (latent.compressed_tokens > 0) down += 2 * h * real_size((latent.overlapping ? 2 : 1) * latent.query_size());
  return down + up_matrices(model, kind) + output;
}

/// The products with weights of what chooses keys.
double index_matrices(const TransformerModel& model, const TransformerLayer& kind) {
  const SparseIndex& index = *kind.index;
  const double h = real_size(model.hidden), width = real_size(index.heads * index.size);
  const std::int64_t rank = kind.latent ? kind.latent->query_rank : 0;
  double keys = real_size(index.size);
  if (kind.latent && kind.latent->compressed_tokens > 0) keys *= kind.latent->overlapping ? 4 : 2;
  return (rank > 0 ? real_size(rank) : h) * width + h * (keys + real_size(index.heads));
}

/// The products of a recurrence, and what its state takes: each token is added to the state and read from it; by the
/// delta rule the state is asked for the token's key before.
double recurrence_products(const TransformerModel& model, const Recurrence& sizes) {
  const double h = real_size(model.hidden), width = real_size(sizes.value_width());
  double products = width * h + real_size(sizes.channels() * sizes.convolution);
  if (sizes.step_rank > 0) {
    products += h * 2 * width + width * real_size(2 * sizes.step_rank + 2 * sizes.key_size);
  } else {
    products += h * real_size(sizes.input_width()) + real_size(sizes.gate_rank) * (h + width) +
                real_size(sizes.decay_rank) * (h + real_size(sizes.key_width()));
  }
  return products + (sizes.delta_rule ? 3 : 2) * real_size(sizes.state());
}

double mixing_matrices(const TransformerModel& model, const TransformerLayer& kind) {
  if (!kind.attends) return 0;
  if (kind.recurrence) return recurrence_products(model, *kind.recurrence);
  if (kind.latent) return latent_matrices(model, kind) + (kind.index ? index_matrices(model, kind) : 0);
  const double h = real_size(model.hidden);
  const double output = real_size(kind.context_width()) * h;
  return h * real_size(kind.projected_width()) + output + (kind.index ? index_matrices(model, kind) : 0);
}

class ProductCount {
 public:
  ProductCount(const TransformerModel& model, FlopsConvention convention, Recomputation recomputation,
               const TrainedPart& part, double sequence_tokens)
      : model_{model}, convention_{convention}, recomputation_{recomputation}, part_{part}, tokens_{sequence_tokens} {}

  ProductSums count() {
    const std::int64_t layers = model_.all_layers();
    for (std::int64_t i = 0; i < layers; ++i) {
      layer(i);
      add(i, part_.backward(model_, i), recomputation_ == Recomputation::full ? unit_ : in_modules_);
    }
    const BackwardPart before = part_.backward(model_, TrainedPart::kHead);
    for (std::int64_t i = 0; i < model_.mtp_layers; ++i) {
      prediction_module();
      add(layers - 1, before == BackwardPart::weights ? BackwardPart::none : BackwardPart::all,
          computes_layers_again(recomputation_) ? Products{} : in_modules_);
    }
    if (model_.head == OutputHead::none) return sum_;
    sum_.logits_by_token =
        static_cast<double>(1 + model_.mtp_layers) * real_size(model_.hidden) * real_size(model_.vocabulary);
    const WeightGroup matrix = model_.head == OutputHead::tied ? WeightGroup::embedding : WeightGroup::head;
    if (!part_.trains(matrix, TrainedPart::kHead)) sum_.missing.by_token += sum_.logits_by_token;
    if (before == BackwardPart::weights) sum_.missing.by_token += sum_.logits_by_token;
    return sum_;
  }

 private:
  /// Adds the unit at hand, whose tensors are trained if this layer is.
  void add(std::int64_t as_layer, BackwardPart backward, const Products& again) {
    sum_.forward += unit_;
    if (!part_.trains(WeightGroup::output, as_layer)) sum_.missing.by_token += unit_.by_token;
    if (backward == BackwardPart::none)
      sum_.missing += {unit_.by_token, 2 * unit_.by_square};
    else
      sum_.again += again;
    unit_ = in_modules_ = {};
  }

  void layer(std::int64_t index) {
    kind(model_.kind_of(index), model_.is_causal(index));
    if (model_.has_cross_attention(index)) cross_attention();
    if (!model_.is_encoder(index)) unit_.by_token += 3 * real_size(model_.hidden) * real_size(model_.layer_inputs);
  }

  void prediction_module() {
    for (const std::uint16_t each : model_.module_kinds()) kind(model_.kind(each), model_.causal);
    if (model_.has_cross_attention(model_.all_layers() - 1)) cross_attention();
    unit_.by_token += 2 * real_size(model_.hidden) * real_size(model_.hidden);
  }

  void kind(const TransformerLayer& kind, bool is_causal) {
    unit_.by_token += mixing_matrices(model_, kind);
    unit_.by_token += feed_forward_products(model_, kind);
    if (kind.latent && repeats(recomputation_, Recomputation::mla_up_proj))
      in_modules_.by_token += up_matrices(model_, kind);
    in_modules_.by_token += repeated_feed_forward(kind);
    // Keys, output and, of gated feed-forwards, what goes up beside the gate.
    if (recomputation_ == Recomputation::operators)
      in_modules_.by_token += real_size(model_.hidden) *
                              real_size(kind.key_width() + kind.context_width() + (kind.gated ? kind.feed_forward : 0));
    if (model_.streams > 1)
      unit_.by_token +=
          2 * real_size((2 + model_.streams) * model_.streams) * real_size(model_.streams * model_.hidden);
    if (!kind.has_attention()) return;
    const bool half = convention_ == FlopsConvention::causal && is_causal;
    double squares = static_cast<double>(kind.query_width() + kind.context_width()) * kind.seen_pairs(tokens_, half);
    if (kind.index) {
      const std::int64_t every = kind.latent ? std::max<std::int64_t>(1, kind.latent->compressed_tokens) : 1;
      squares += real_size(kind.index->heads * kind.index->size) * (half ? 0.5 : 1) / real_size(every);
    }
    attend(squares);
  }

  void cross_attention() {
    unit_.by_token += mixing_matrices(model_, model_);
    attend(static_cast<double>(model_.query_width() + model_.context_width()));
  }

  void attend(double squares) {
    unit_.by_square += squares;
    if (repeats(recomputation_, Recomputation::core_attn)) in_modules_.by_square += squares;
  }

  /// The products of the feed-forwards of the layer that are in a module.
  [[nodiscard]] double repeated_feed_forward(const TransformerLayer& kind) const {
    if (repeats(recomputation_, kind.mixture ? Recomputation::moe : Recomputation::mlp))
      return feed_forward_products(model_, kind);
    if (!kind.mixture || !repeats(recomputation_, Recomputation::shared_experts)) return 0;
    return feed_forward_products(model_, kind, true);
  }

  const TransformerModel& model_;
  FlopsConvention convention_;
  Recomputation recomputation_;
  const TrainedPart& part_;
  double tokens_;
  ProductSums sum_;
  Products unit_, in_modules_;  // of the unit at hand: all, and those in modules of the recomputation
};

/// Tokens of the sequence of a pair of a query and a key, in the mean.
double tokens_of_pairs(const SequenceSums& sequences) {
  return sequences.tokens > 0 ? sequences.squares / sequences.tokens : 1;
}

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

double model_flops(const TransformerModel& model, const SequenceSums& sequences, FlopsConvention convention,
                   const TrainedPart& part) {
  const bool twice = convention == FlopsConvention::recomputed;
  return hardware_flops(model, sequences, convention, twice ? Recomputation::full : Recomputation::none, part);
}

double hardware_flops(const TransformerModel& model, const SequenceSums& sequences, FlopsConvention convention,
                      Recomputation recomputation, const TrainedPart& part) {
  const ProductSums sums = ProductCount{model, convention, recomputation, part, tokens_of_pairs(sequences)}.count();
  const auto flops_of = [&](const Products& products) {
    return 2 * products.by_token * sequences.tokens + 2 * products.by_square * sequences.squares;
  };
  const double logits = 2 * sums.logits_by_token * sequences.tokens;
  return 3 * (flops_of(sums.forward) + logits) + flops_of(sums.again) - flops_of(sums.missing);
}

}  // namespace contend
