#include "models/parallel/transformer_sizes.hpp"

#include "models/parallel/transformer_catalogue.hpp"
#include "sim/complaints.hpp"

#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

/// What the sizes begin with: a model of the catalogue, or the usual shape of a decoder.
TransformerModel base_of(const TransformerSizes& sizes) {
  if (const TransformerModel* const like = find_transformer(sizes.like)) return *like;
  TransformerModel model;
  model.gated = true;
  model.norm = NormKind::rms;
  return model;
}

void take(std::int64_t& size, std::int64_t given) {
  if (given > 0) size = given;
}

/// The sizes of attention and of the dense feed-forward.
void take_sizes(const TransformerSizes& sizes, std::int64_t hidden, TransformerLayer& kind) {
  take(kind.heads, sizes.heads);
  if (sizes.like.empty() && sizes.heads > 0) {
    kind.key_value_heads = sizes.heads;
    kind.head_size = hidden / sizes.heads;
  }
  if (kind.latent) kind.key_value_heads = kind.heads;
  take(kind.key_value_heads, sizes.key_value_heads);
  take(kind.head_size, sizes.head_size);
  take(kind.feed_forward, sizes.feed_forward);
  if (sizes.gated) kind.gated = *sizes.gated;
}

/// What a catalogue model gives besides its sizes can't be had with another kind of attention.
void check_heads(const TransformerSizes& sizes, const TransformerModel& model, Complaints& found) {
  if (model.latent && (sizes.key_value_heads > 0 || sizes.head_size > 0))
    found.add(sizes.head_size > 0 ? "head_size" : "key_value_heads",
              fmt::format("{} has latent attention, whose heads have sizes of their own", sizes.like));
  if (sizes.like.empty() && sizes.head_size == 0 && sizes.heads > 0 && model.hidden % sizes.heads != 0)
    found.add("heads", fmt::format("{} does not divide hidden, {}", sizes.heads, model.hidden), "or give head_size");
}

}  // namespace

TransformerModel transformer_of(const TransformerSizes& sizes, std::string name) {
  TransformerModel model = base_of(sizes);
  model.name = std::move(name);
  model.source = "the scenario";
  take(model.layers, sizes.layers);
  take(model.hidden, sizes.hidden);
  Complaints found;
  check_heads(sizes, model, found);
  const bool has_experts = sizes.experts > 0 || model.mixture;
  if (!has_experts && (sizes.top_k > 0 || sizes.expert_feed_forward > 0 || sizes.shared_feed_forward > 0 ||
                       sizes.dense_layers.value_or(0) > 0))
    found.add("experts", "is missing beside sizes of experts", "the number of experts in a layer");
  found.throw_if_any();
  if (sizes.dense_layers.value_or(0) < 0) found.add("dense_layers", "expected 0 or more");
  found.throw_if_any();
  take(model.vocabulary, sizes.vocabulary);
  if (sizes.norm) model.norm = *sizes.norm;
  if (sizes.tied) model.head = *sizes.tied ? OutputHead::tied : OutputHead::untied;
  const auto dense = static_cast<std::int64_t>(model.front.size());
  take_sizes(sizes, model.hidden, model);
  if (has_experts) {
    if (!model.mixture) model.mixture.emplace().expert_feed_forward = sizes.feed_forward;
    MixtureOfExperts& mixture = *model.mixture;
    take(mixture.experts, sizes.experts);
    take(mixture.top_k, sizes.top_k);
    take(mixture.expert_feed_forward, sizes.expert_feed_forward);
    take(mixture.shared_feed_forward, sizes.shared_feed_forward);
    put_dense_in_front(model, sizes.dense_layers.value_or(dense));
  }
  validate(model);
  return model;
}

}  // namespace contend
