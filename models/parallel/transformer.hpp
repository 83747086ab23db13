#pragma once
// A transformer described by its hyperparameters, and its exact numbers of parameters.
//
// Sources: Vaswani et al. (arXiv 1706.03762) for the layer; Ainslie et al. (arXiv 2305.13245) for grouped queries;
// Shazeer (arXiv 2002.05202) for gated feed-forwards; DeepSeek-V2 (arXiv 2405.04434, section 2) for latent attention
// and node-limited routing; DeepSeek-V3 (arXiv 2412.19437, section 2) for selection biases and multi-token prediction;
// Raffel et al. (arXiv 1910.10683, section 2.1) for the encoder-decoder with relative positions.

#include <cstdint>
#include <optional>
#include <string>

namespace contend {

/// The normalization of a vector of n numbers: RMS has n parameters, layer normalization 2 n.
enum class NormKind : std::uint8_t { rms, layer };

/// Which products of a layer have biases.
enum class ProductBiases : std::uint8_t {
  none,
  qkv,  ///< the projections to queries, keys and values only
  all,
};

/// What maps the last layer to the vocabulary.
enum class OutputHead : std::uint8_t {
  none,    ///< nothing: the model ends with its last layer, or with its pooler
  tied,    ///< the embedding, used once more
  untied,  ///< a matrix of its own
};

/// Multi-head latent attention: keys and values come from one short vector a token. All sizes >= 1 but query_rank.
struct LatentAttention {
  std::int64_t query_rank = 0;      ///< of the short vector of the queries; 0: queries come from the hidden state
  std::int64_t key_value_rank = 0;  ///< of the short vector of keys and values
  std::int64_t plain_size = 0;      ///< of a query or key head, the part without positions
  std::int64_t rotary_size = 0;     ///< of a query head, the part with positions; all key heads share theirs
  std::int64_t value_size = 0;      ///< of a value head

  [[nodiscard]] std::int64_t query_size() const { return plain_size + rotary_size; }
};

/// The feed-forwards of a mixture of experts. Every expert has the shape of the dense feed-forward but its own width.
struct MixtureOfExperts {
  std::int64_t experts = 0;              ///< routed ones in a layer, >= 1
  std::int64_t top_k = 0;                ///< routed experts of a token, 1 to experts
  std::int64_t expert_feed_forward = 0;  ///< width of one routed expert, >= 1
  std::int64_t shared_feed_forward = 0;  ///< width of all shared experts together; 0: none
  std::int64_t dense_layers = 0;         ///< the first layers, which have a dense feed-forward instead
  bool router_bias = false;              ///< one number an expert that shifts the selection only (DeepSeek-V3)
  std::int64_t groups = 1;               ///< into which the experts are divided; divides experts
  std::int64_t groups_used = 1;          ///< from which the experts of one token come, 1 to groups
};

/// A transformer. The layers are those of the encoder, if there is one, and then those of the decoder; an index of a
/// layer counts through both.
struct TransformerModel {
  std::string name;
  std::string source;                ///< the paper or file that gives the sizes
  std::int64_t layers = 0;           ///< of the decoder, or of the only stack; >= 1
  std::int64_t encoder_layers = 0;   ///< of the encoder whose output the decoder attends to; 0: only one stack
  std::int64_t hidden = 0;           ///< >= 1
  std::int64_t heads = 0;            ///< of the queries, >= 1
  std::int64_t key_value_heads = 0;  ///< divides heads; latent attention has as many as heads
  std::int64_t head_size = 0;        ///< of queries, keys and values; not used by latent attention
  std::int64_t feed_forward = 0;     ///< width of the dense feed-forward; 0 only if all layers are mixtures
  bool gated = false;                ///< the feed-forward has three matrices instead of two
  NormKind norm = NormKind::layer;   ///< two a layer, three in a decoder layer beside an encoder
  ProductBiases biases = ProductBiases::none;
  std::int64_t vocabulary = 0;  ///< rows of the embedding, with any padding that the source has; >= 1
  OutputHead head = OutputHead::untied;
  std::int64_t positions = 0;         ///< rows of a learned table of positions; 0: rotary or relative positions
  std::int64_t relative_buckets = 0;  ///< of relative positions: a table [buckets, heads] in each stack; 0: none
  std::int64_t token_types = 0;       ///< rows of a table of token types (BERT)
  bool embedding_norm = false;        ///< a normalization behind the embedding (BERT)
  bool final_norm = true;             ///< a normalization behind each stack; false if each sublayer ends with one
  bool pooler = false;                ///< a square product with bias on the first token (BERT)
  bool query_key_norms = false;       ///< an RMS normalization of each query head and of each key head (Qwen3)
  bool causal = true;                 ///< a token attends to earlier ones only; the encoder of two stacks never is
  bool dropout = false;               ///< the published training drops residuals and attention weights
  std::int64_t default_sequence = 0;  ///< tokens of a sequence in the published training; 0: unknown
  std::int64_t mtp_layers = 0;        ///< modules of multi-token prediction behind the last layer
  std::optional<LatentAttention> latent{};
  std::optional<MixtureOfExperts> mixture{};

  [[nodiscard]] std::int64_t all_layers() const { return encoder_layers + layers; }
  [[nodiscard]] bool is_encoder(std::int64_t layer) const { return layer < encoder_layers; }
  /// True if the layer attends to the output of the encoder, too.
  [[nodiscard]] bool has_cross_attention(std::int64_t layer) const { return encoder_layers > 0 && !is_encoder(layer); }
  [[nodiscard]] bool is_mixture(std::int64_t layer) const { return mixture && layer >= mixture->dense_layers; }
  [[nodiscard]] bool is_causal(std::int64_t layer) const { return causal && !is_encoder(layer); }
  /// Width of all query heads, of all key heads, of all value heads together.
  [[nodiscard]] std::int64_t query_width() const { return heads * (latent ? latent->query_size() : head_size); }
  [[nodiscard]] std::int64_t key_width() const {
    return latent ? heads * latent->query_size() : key_value_heads * head_size;
  }
  [[nodiscard]] std::int64_t value_width() const {
    return latent ? heads * latent->value_size : key_value_heads * head_size;
  }
  /// Width of what attention gives to its output projection.
  [[nodiscard]] std::int64_t context_width() const { return heads * (latent ? latent->value_size : head_size); }
};

/// Checks a model. Throws InputError with every fault: a size that is missing, negative or above 2^32 (heads and
/// experts: 2^20; layers of each kind: 100,000), more parameters than 2^62, key and value heads that don't divide the
/// heads, experts a token above the experts, groups that don't divide them, a mixture in an encoder-decoder, a decoder
/// that is no decoder but has an encoder.
void validate(const TransformerModel& model);

/// Parameters of one part of a layer by how tensor parallelism stores them (Megatron-LM, arXiv 1909.08053, section 3).
struct ParameterSplit {
  std::int64_t divided = 0;  ///< in matrices cut over the tensor-parallel ranks
  std::int64_t whole = 0;    ///< in tensors that each of these ranks holds whole: norms, routers, some biases
  std::int64_t experts = 0;  ///< of routed experts, cut over the ranks of expert parallelism
  /// Tensors of the first two numbers of elements, and tensors of all routed experts: one for each matrix, bias and
  /// norm, with matrices of their own for queries, keys and values, as Hugging Face stores models.
  std::int64_t tensors = 0, expert_tensors = 0;

  [[nodiscard]] std::int64_t total() const { return divided + whole + experts; }
  ParameterSplit& operator+=(const ParameterSplit& other) {
    divided += other.divided;
    whole += other.whole;
    experts += other.experts;
    tensors += other.tensors;
    expert_tensors += other.expert_tensors;
    return *this;
  }
};

/// The parameters of layer `layer` (0 to all_layers() - 1). The first layer of a stack has the table of relative
/// positions, the last layer of an encoder the normalization behind it. The model is valid here and below.
[[nodiscard]] ParameterSplit layer_parameters(const TransformerModel& model, std::int64_t layer);
/// Those in front of the first layer: tables of tokens, positions and types, and the normalization behind them.
[[nodiscard]] ParameterSplit embedding_parameters(const TransformerModel& model);
/// Those behind the last layer: the final normalization, the pooler, and the matrix of the head if it is not tied.
[[nodiscard]] ParameterSplit head_parameters(const TransformerModel& model);
/// Those of one module of multi-token prediction: a layer like the last one, a product of 2 hidden x hidden, and three
/// normalizations. It shares embedding and head with the model.
[[nodiscard]] ParameterSplit mtp_parameters(const TransformerModel& model);
/// Elements of the matrix that both ends of a tied model need: each stage of a pipeline that has only one of the ends
/// stores it, and the two copies' gradients are added up. 0 if the head is not tied.
[[nodiscard]] std::int64_t tied_elements(const TransformerModel& model);

/// Parameters of the whole model, each counted once, without the modules of multi-token prediction.
[[nodiscard]] std::int64_t parameters(const TransformerModel& model);
/// Parameters that take part in the pass of one token: without the experts that it is not sent to, and without
/// selection biases, which no value passes through. Embeddings and head count.
[[nodiscard]] std::int64_t active_parameters(const TransformerModel& model);

/// What a stage of a pipeline holds: the layers [first, last), and perhaps an end of the model.
struct LayerRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool embedding = false;  ///< with what is in front of the first layer
  bool head = false;       ///< with what is behind the last layer, and with the modules of multi-token prediction
};

/// The parameters that the stage stores, with its copy of a tied matrix if it has the head but not the embedding. Its
/// range lies in the model.
[[nodiscard]] ParameterSplit stage_parameters(const TransformerModel& model, const LayerRange& stage);

}  // namespace contend
