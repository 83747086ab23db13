#pragma once
// A kind of layer of a transformer: how its tokens exchange what they know, its feed-forward, and its norms. A model is
// a pattern of such kinds (transformer.hpp).
//
// Sources: Ainslie et al. (arXiv 2305.13245) for grouped queries; Shazeer (arXiv 2002.05202) for gated feed-forwards;
// Beltagy et al. (arXiv 2004.05150, section 3.1) for windows; Xiao et al. (arXiv 2309.17453) for sinks; DeepSeek-V2
// (arXiv 2405.04434, section 2) for latent attention and node-limited routing; DeepSeek-V3 (arXiv 2412.19437, section
// 2) for selection biases; DeepSeek-V3.2 (arXiv 2512.02556, section 2.1) for the index of sparse attention; Dao and Gu
// (arXiv 2405.21060, section 7) for Mamba-2, Gu and Dao (arXiv 2312.00752, section 3) for Mamba; Yang et al. (arXiv
// 2412.06464, section 3) for the gated delta rule; Kimi Linear (arXiv 2510.26692, section 3) for its decay by channel;
// MiniMax-01 (arXiv 2501.08313, section 2.2) for lightning attention.

#include <cstdint>
#include <optional>

namespace contend {

/// The normalization of a vector of n numbers: RMS has n parameters, layer normalization 2 n, or n without a bias, or
/// none.
enum class NormKind : std::uint8_t { rms, layer, layer_without_bias, layer_without_parameters };

/// Which products of a layer have biases: a set.
enum class ProductBiases : std::uint8_t {
  none = 0,
  qkv = 1,           ///< the projections to queries, keys and values
  output = 2,        ///< the projection behind attention
  feed_forward = 4,  ///< the products of the feed-forward, of experts too
  all = 7,
};
[[nodiscard]] constexpr bool has(ProductBiases set, ProductBiases one) {
  return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(one)) != 0;
}
[[nodiscard]] constexpr ProductBiases operator|(ProductBiases one, ProductBiases other) {
  return static_cast<ProductBiases>(static_cast<std::uint8_t>(one) | static_cast<std::uint8_t>(other));
}

/// Multi-head latent attention: keys and values come from one short vector a token. All sizes >= 1 but query_rank.
struct LatentAttention {
  std::int64_t query_rank = 0;      ///< of the short vector of the queries; 0: queries come from the hidden state
  std::int64_t key_value_rank = 0;  ///< of the short vector of keys and values
  std::int64_t plain_size = 0;      ///< of a query or key head, the part without positions
  std::int64_t rotary_size = 0;     ///< of a query head, the part with positions; all key heads share theirs
  std::int64_t value_size = 0;      ///< of a value head
  /// The short vector, with its rotary part, is the key and the value of all heads: nothing makes heads out of it
  /// (DeepSeek-V4). key_value_rank is then plain_size.
  bool shared_by_heads = false;
  /// The output is made in two products: the heads in so many groups, each by a product of its own to a vector of
  /// output_rank numbers, and these by one product. 0: one product.
  std::int64_t output_groups = 0, output_rank = 0;
  /// Beside its window a query sees one key for so many tokens, which is made out of them; 0: it does not.
  std::int64_t compressed_tokens = 0;
  bool overlapping = false;  ///< such a key is made out of twice so many tokens

  [[nodiscard]] std::int64_t query_size() const { return plain_size + rotary_size; }
  bool operator==(const LatentAttention&) const = default;
};

/// What chooses the keys that a query sees by a product of its own with every key.
struct SparseIndex {
  std::int64_t heads = 0;  ///< of its queries, which share one key, >= 1
  std::int64_t size = 0;   ///< of a head, >= 1
  std::int64_t top_k = 0;  ///< keys that a query sees, >= 1
  bool operator==(const SparseIndex&) const = default;
};

/// A layer whose tokens pass on a state: state space models and linear attention. Each of `heads` has a state of
/// key_size x head_size numbers. All sizes >= 1 where not said.
struct Recurrence {
  std::int64_t heads = 0;         ///< of values and states
  std::int64_t head_size = 0;     ///< of a value
  std::int64_t key_heads = 0;     ///< of queries and keys, which divide heads; the groups of Mamba-2
  std::int64_t key_size = 0;      ///< of a query or key; the size of the state of Mamba
  std::int64_t convolution = 0;   ///< tokens of the convolution over queries, keys and values; 0: none
  bool convolution_bias = false;  ///< one number a channel
  bool product_biases = false;    ///< of the products in front and behind
  std::int64_t controls = 1;      ///< numbers a head and token that say how the state changes, >= 0
  std::int64_t scalars = 0;       ///< learned numbers a head, >= 0
  bool delta_rule = false;        ///< what the state gives for a key is taken off it first
  bool gated = true;              ///< the output is multiplied by an activation of the input
  std::int64_t gate_rank = 0;     ///< of the product that gives this gate; 0: it is a whole one
  std::int64_t decay_rank = 0;    ///< of one that gives a decay for each number of a key; 0: there is none
  std::int64_t norm_size = 0;     ///< of the norm in front of the output product; 0: there is none
  std::int64_t step_rank = 0;     ///< of the product that gives the steps of Mamba's first form; 0: second form
  bool step_norms = false;        ///< of that form: norms of steps, keys and queries (Jamba)
  std::int64_t chunk = 64;        ///< tokens that are computed at once

  [[nodiscard]] std::int64_t value_width() const { return heads * head_size; }
  [[nodiscard]] std::int64_t key_width() const { return key_heads * key_size; }
  /// Channels of the convolution, and numbers of the state of a sequence.
  [[nodiscard]] std::int64_t channels() const { return value_width() + (step_rank > 0 ? 0 : 2 * key_width()); }
  [[nodiscard]] std::int64_t state() const { return value_width() * key_size; }
  /// Columns of the product of the hidden state, without gates and decays of a rank of their own.
  [[nodiscard]] std::int64_t input_width() const {
    const std::int64_t gate = gated && gate_rank == 0 ? value_width() : 0;
    return channels() + gate + controls * heads;
  }
  bool operator==(const Recurrence&) const = default;
};

/// The feed-forwards of a mixture of experts. Every expert has the shape of the dense feed-forward but its own width.
struct MixtureOfExperts {
  std::int64_t experts = 0;              ///< routed ones in a layer, >= 1
  std::int64_t top_k = 0;                ///< routed experts of a token, 1 to experts
  std::int64_t expert_feed_forward = 0;  ///< width of one routed expert, >= 1
  std::int64_t shared_feed_forward = 0;  ///< width of all shared experts together; 0: none
  bool router_bias = false;              ///< one number an expert that shifts the selection only (DeepSeek-V3)
  std::int64_t groups = 1;               ///< into which the experts are divided; divides experts
  std::int64_t groups_used = 1;          ///< from which the experts of one token come, 1 to groups
  bool score_bias = false;               ///< one number an expert that is part of its score (gpt-oss)
  bool shared_gate = false;              ///< a product to one number scales the shared experts (Qwen2)
  std::int64_t latent = 0;               ///< of the vectors that routed experts get and give; 0: the hidden size
  std::int64_t scales = 0;               ///< other learned numbers of the router, whole on every rank

  /// Of the vectors that routed experts get.
  [[nodiscard]] std::int64_t expert_width(std::int64_t hidden) const { return latent > 0 ? latent : hidden; }
  bool operator==(const MixtureOfExperts&) const = default;
};

/// A kind of layer.
struct TransformerLayer {
  bool attends = true;               ///< tokens see each other: by attention, or by a recurrence
  std::int64_t heads = 0;            ///< of the queries, >= 1
  std::int64_t key_value_heads = 0;  ///< divides heads; latent attention has as many as heads
  std::int64_t head_size = 0;        ///< of queries, keys and values; not used by latent attention
  std::int64_t value_size = 0;       ///< of values, if it is another; 0: head_size
  std::int64_t gate_width = 0;       ///< of an output gate: numbers that the queries' product gives beside; 0: none
  std::int64_t window = 0;           ///< tokens that a query sees, its own included; 0: all
  std::int64_t chunk = 0;            ///< tokens of the pieces of a sequence that see themselves only; 0: all
  bool sinks = false;                ///< a learned score a head that takes part in the softmax
  bool rotates = true;               ///< queries and keys have rotary positions, where the model has no others
  bool values_are_keys = false;      ///< the keys' product gives the values, too
  bool shares_keys = false;          ///< keys and values are an earlier layer's
  ProductBiases biases = ProductBiases::none;
  bool query_key_norms = false;  ///< an RMS normalization of each query head and of each key head (Qwen3)
  bool wide_norms = false;       ///< that normalization has a number for each number of all heads (OLMo 2)
  std::optional<LatentAttention> latent{};
  std::optional<SparseIndex> index{};
  std::optional<Recurrence> recurrence{};  ///< instead of attention

  std::int64_t feed_forward = 0;  ///< width of the dense feed-forward; 0: there is none, or experts instead
  bool gated = false;             ///< the feed-forward has three matrices instead of two
  bool parallel = false;          ///< the feed-forward has the input of attention, and both outputs are added at once
  std::optional<MixtureOfExperts> mixture{};
  /// Normalizations of the hidden state at attention and at the feed-forward: one in front; a second one behind; more
  /// behind experts and what is beside them.
  int attention_norms = 1, feed_forward_norms = 1;

  [[nodiscard]] bool has_attention() const { return attends && !recurrence; }
  [[nodiscard]] bool has_feed_forward() const { return mixture || feed_forward > 0; }
  [[nodiscard]] std::int64_t value_head() const { return value_size > 0 ? value_size : head_size; }
  /// Width of all query heads, of all key heads, of all value heads together.
  [[nodiscard]] std::int64_t query_width() const { return heads * (latent ? latent->query_size() : head_size); }
  [[nodiscard]] std::int64_t key_width() const {
    if (latent) return latent->shared_by_heads ? latent->query_size() : heads * latent->query_size();
    return key_value_heads * head_size;
  }
  [[nodiscard]] std::int64_t value_width() const {
    if (latent) return latent->shared_by_heads ? latent->value_size : heads * latent->value_size;
    return key_value_heads * value_head();
  }
  /// Width of what attention gives to its output projection.
  [[nodiscard]] std::int64_t context_width() const { return heads * (latent ? latent->value_size : value_head()); }
  /// Columns of the product that gives queries, keys, values and the output gate.
  [[nodiscard]] std::int64_t projected_width() const {
    const std::int64_t values = values_are_keys ? 0 : value_width();
    return query_width() + gate_width + (shares_keys ? 0 : key_width() + values);
  }

  /// The share of all pairs of a query and a key of a sequence of so many tokens that are seen. With `half` a query
  /// sees no later key; else every query sees as many as the last one.
  [[nodiscard]] double seen_pairs(double tokens, bool half) const;
  /// Numbers of keys and values that a token leaves for later ones, and of the state of a sequence.
  [[nodiscard]] double kept_numbers(double tokens) const;
  bool operator==(const TransformerLayer&) const = default;
};

}  // namespace contend
