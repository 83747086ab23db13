#pragma once
// A transformer given by its sizes.

#include "models/parallel/transformer.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace contend {

/// What says how large a decoder is, in the shape of today's language models: rotary positions, no biases, one stack;
/// or what differs from a model of the catalogue, such as the number of layers of a model that is cut to fit a few
/// GPUs. Sizes that are 0 or not given are as `like` has them, if it is given, and else follow from others.
struct TransformerSizes {
  std::string like;  ///< a name of transformer_names(), or empty
  std::int64_t layers = 0, hidden = 0, heads = 0, feed_forward = 0, vocabulary = 0;
  std::int64_t key_value_heads = 0;          ///< 0: as many as heads
  std::int64_t head_size = 0;                ///< 0: hidden / heads
  std::optional<bool> gated;                 ///< the feed-forward has three matrices (SwiGLU), which is usual, else two
  std::optional<NormKind> norm;              ///< usual: RMS
  std::optional<bool> tied;                  ///< the head is the embedding; usual: it isn't
  std::int64_t experts = 0, top_k = 0;       ///< routed experts of a layer, and of a token; 0: there are none
  std::int64_t expert_feed_forward = 0;      ///< width of one of them; 0: feed_forward
  std::int64_t shared_feed_forward = 0;      ///< width of all shared experts together
  std::optional<std::int64_t> dense_layers;  ///< the first layers, without experts; usual: none

  [[nodiscard]] bool given() const { return *this != TransformerSizes{}; }
  bool operator==(const TransformerSizes&) const = default;
};

/// The model. Throws InputError with every fault, by the names above.
[[nodiscard]] TransformerModel transformer_of(const TransformerSizes& sizes, std::string name);

}  // namespace contend
