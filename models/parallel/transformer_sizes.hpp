#pragma once
// A transformer given by its sizes.

#include "models/parallel/transformer.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// What says how large a decoder is, in the shape of today's language models: rotary positions, no biases, one stack.
/// Sizes that are 0 follow from others.
struct TransformerSizes {
  std::int64_t layers = 0, hidden = 0, heads = 0, feed_forward = 0, vocabulary = 0;
  std::int64_t key_value_heads = 0;  ///< 0: as many as heads
  std::int64_t head_size = 0;        ///< 0: hidden / heads
  bool gated = true;                 ///< the feed-forward has three matrices (SwiGLU), else two
  NormKind norm = NormKind::rms;
  bool tied = false;                     ///< the head is the embedding
  std::int64_t experts = 0, top_k = 0;   ///< routed experts of a layer, and of a token; 0: there are none
  std::int64_t expert_feed_forward = 0;  ///< width of one of them; 0: feed_forward
  std::int64_t shared_feed_forward = 0;  ///< width of all shared experts together
  std::int64_t dense_layers = 0;         ///< the first layers, without experts

  [[nodiscard]] bool given() const { return *this != TransformerSizes{}; }
  bool operator==(const TransformerSizes&) const = default;
};

/// The model. Throws InputError with every fault, by the names above.
[[nodiscard]] TransformerModel transformer_of(const TransformerSizes& sizes, std::string name);

}  // namespace contend
