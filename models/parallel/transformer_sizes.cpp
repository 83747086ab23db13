#include "models/parallel/transformer_sizes.hpp"

#include "sim/complaints.hpp"

#include <utility>

#include <fmt/core.h>

namespace contend {

TransformerModel transformer_of(const TransformerSizes& sizes, std::string name) {
  Complaints found;
  if (sizes.head_size == 0 && sizes.heads > 0 && sizes.hidden % sizes.heads != 0)
    found.add("heads", fmt::format("{} does not divide hidden, {}", sizes.heads, sizes.hidden), "or give head_size");
  if (sizes.experts == 0 &&
      (sizes.top_k > 0 || sizes.expert_feed_forward > 0 || sizes.shared_feed_forward > 0 || sizes.dense_layers > 0))
    found.add("experts", "is missing beside sizes of experts", "the number of experts in a layer");
  found.throw_if_any();
  TransformerModel model;
  model.name = std::move(name);
  model.source = "the scenario";
  model.layers = sizes.layers;
  model.hidden = sizes.hidden;
  model.heads = sizes.heads;
  model.key_value_heads = sizes.key_value_heads > 0 ? sizes.key_value_heads : sizes.heads;
  model.head_size = sizes.head_size > 0 || sizes.heads == 0 ? sizes.head_size : sizes.hidden / sizes.heads;
  model.feed_forward = sizes.feed_forward;
  model.gated = sizes.gated;
  model.norm = sizes.norm;
  model.vocabulary = sizes.vocabulary;
  model.head = sizes.tied ? OutputHead::tied : OutputHead::untied;
  if (sizes.experts > 0) {
    MixtureOfExperts& mixture = model.mixture.emplace();
    mixture.experts = sizes.experts;
    mixture.top_k = sizes.top_k;
    mixture.expert_feed_forward = sizes.expert_feed_forward > 0 ? sizes.expert_feed_forward : sizes.feed_forward;
    mixture.shared_feed_forward = sizes.shared_feed_forward;
    mixture.dense_layers = sizes.dense_layers;
  }
  validate(model);
  return model;
}

}  // namespace contend
