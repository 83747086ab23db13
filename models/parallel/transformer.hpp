#pragma once
// A transformer described by its hyperparameters, and its exact numbers of parameters.
//
// Sources: Vaswani et al. (arXiv 1706.03762) for the layer; DeepSeek-V3 (arXiv 2412.19437, section 2) for multi-token
// prediction; Raffel et al. (arXiv 1910.10683, section 2.1) for the encoder-decoder with relative positions; Zhu et al.
// (arXiv 2409.19606) for hyper-connections. layer_kind.hpp has the sources of the kinds of layers.

#include "models/parallel/layer_kind.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// What maps the last layer to the vocabulary.
enum class OutputHead : std::uint8_t {
  none,    ///< nothing: the model ends with its last layer, or with its pooler
  tied,    ///< the embedding, used once more
  untied,  ///< a matrix of its own
};

struct Tower;

/// A transformer. The layers are the layers of the encoder, if there is one, and then the layers of the decoder; an
/// index of a layer counts through both. Its members as a TransformerLayer are its usual kind of layer, kind 0, which
/// has the experts if the model has some; an encoder has this kind only.
struct TransformerModel : TransformerLayer {
  std::string name;
  std::string source;                     ///< the paper or file that gives the sizes
  std::int64_t layers = 0;                ///< of the decoder, or of the only stack; >= 1
  std::int64_t encoder_layers = 0;        ///< of the encoder whose output the decoder attends to; 0: only one stack
  std::int64_t hidden = 0;                ///< >= 1
  NormKind norm = NormKind::layer;        ///< of all normalizations
  std::vector<TransformerLayer> kinds{};  ///< kinds 1, 2, ...
  std::vector<std::uint16_t> front{};     ///< the kinds of the first layers of the decoder, one by one
  std::vector<std::uint16_t> pattern{};   ///< kinds of the layers behind them, which repeat; empty: all are kind 0
  std::int64_t vocabulary = 0;            ///< rows of the embedding, with any padding that the source has; >= 1
  OutputHead head = OutputHead::untied;
  bool head_bias = false;             ///< a number a row of the vocabulary behind the head
  std::int64_t positions = 0;         ///< rows of a learned table of positions; 0: rotary or relative positions
  std::int64_t relative_buckets = 0;  ///< of relative positions: a table [buckets, heads] in each stack; 0: none
  std::int64_t token_types = 0;       ///< rows of a table of token types (BERT)
  bool embedding_norm = false;        ///< a normalization behind the embedding (BERT)
  bool final_norm = true;             ///< a normalization behind each stack; false if each sublayer ends with one
  bool pooler = false;                ///< a square product with bias on the first token (BERT)
  bool causal = true;                 ///< a token attends to earlier ones only; the encoder of two stacks never is
  bool dropout = false;               ///< the published training drops residuals and attention weights
  std::int64_t default_sequence = 0;  ///< tokens of a sequence in the published training; 0: unknown
  std::int64_t mtp_layers = 0;        ///< modules of multi-token prediction behind the last layer
  std::vector<std::uint16_t> mtp_pattern{};  ///< the kinds of a module's layers; empty: one like the last layer
  std::int64_t streams = 1;           ///< copies of the hidden state that hyper-connections mix; 1: a plain residual
  std::int64_t layer_inputs = 0;      ///< width of a second embedding, of which each layer gets its own part; 0: none
  std::int64_t layer_vocabulary = 0;  ///< rows of that embedding
  std::vector<Tower> towers;          ///< of images or sound, whose output takes the place of tokens

  [[nodiscard]] std::int64_t all_layers() const { return encoder_layers + layers; }
  [[nodiscard]] bool is_encoder(std::int64_t layer) const { return layer < encoder_layers; }
  /// True if the layer attends to the output of the encoder, too.
  [[nodiscard]] bool has_cross_attention(std::int64_t layer) const { return encoder_layers > 0 && !is_encoder(layer); }
  [[nodiscard]] bool is_causal(std::int64_t layer) const { return causal && !is_encoder(layer); }
  /// The kind of a layer, by its number.
  [[nodiscard]] std::size_t kind_index(std::int64_t layer) const {
    if (is_encoder(layer)) return 0;
    const auto place = static_cast<std::size_t>(layer - encoder_layers);
    if (place < front.size()) return front[place];
    return pattern.empty() ? 0 : pattern[(place - front.size()) % pattern.size()];
  }
  [[nodiscard]] const TransformerLayer& kind(std::size_t number) const {
    if (number == 0) return *this;
    return kinds[number - 1];
  }
  [[nodiscard]] const TransformerLayer& kind_of(std::int64_t layer) const { return kind(kind_index(layer)); }
  [[nodiscard]] bool is_mixture(std::int64_t layer) const { return kind_of(layer).mixture.has_value(); }
  /// The kinds of the layers of a module of multi-token prediction.
  [[nodiscard]] std::vector<std::uint16_t> module_kinds() const;
};

/// A model of its own that makes vectors of the hidden size out of images or sound.
struct Tower {
  std::string name;           ///< `vision` or `audio`
  TransformerModel stack;     ///< its layers; it has no tokens
  std::int64_t outside = 0;   ///< parameters in front of its layers and behind them
  std::int64_t products = 0;  ///< multiply-adds in front and behind, for each of its positions
};

/// Lays so many layers with a dense feed-forward in front, which are otherwise of the usual kind, and all others have
/// this kind.
void put_dense_in_front(TransformerModel& model, std::int64_t count);
/// Gives each layer of the decoder its kind: the usual one is the most frequent kind, of those with experts if there
/// are some. `each` is not empty. Throws InputError for more than 1,000 kinds.
void set_layers(TransformerModel& model, const std::vector<TransformerLayer>& each);

/// Checks a model. Throws InputError with every fault: a size that is missing, negative or above 2^32 (heads and
/// experts: 2^20; layers: 100,000), more parameters than 2^62, key and value heads that don't divide the heads, experts
/// a token above the experts, groups that don't divide them, a mixture in an encoder-decoder, a decoder that is no
/// decoder but has an encoder, a pattern that does not fill the layers.
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
  ParameterSplit& operator-=(const ParameterSplit& other) {
    divided -= other.divided;
    whole -= other.whole;
    experts -= other.experts;
    tensors -= other.tensors;
    expert_tensors -= other.expert_tensors;
    return *this;
  }
};

/// The parameters of layer `layer` (0 to all_layers() - 1). The first layer of a stack has the table of relative
/// positions, the last layer of an encoder the normalization behind it. The model is valid here and below.
[[nodiscard]] ParameterSplit layer_parameters(const TransformerModel& model, std::int64_t layer);
/// The parameters of a layer of this kind, which is no end of a stack and has no attention to an encoder.
[[nodiscard]] ParameterSplit kind_parameters(const TransformerModel& model, const TransformerLayer& kind);
/// The parameters in front of the first layer: tables of tokens, positions and types, and the normalization behind
/// them.
[[nodiscard]] ParameterSplit embedding_parameters(const TransformerModel& model);
/// The parameters behind the last layer: the final normalization, the pooler, and the matrix of the head if it is not
/// tied.
[[nodiscard]] ParameterSplit head_parameters(const TransformerModel& model);
/// The parameters of one module of multi-token prediction: its layers (mtp_pattern), a product of 2 hidden x hidden,
/// and three normalizations. It shares embedding and head with the model.
[[nodiscard]] ParameterSplit mtp_parameters(const TransformerModel& model);
/// Elements of the matrix that both ends of a tied model need: each stage of a pipeline that has only one of the ends
/// stores it, and the two copies' gradients are added up. 0 if the head is not tied.
[[nodiscard]] std::int64_t tied_elements(const TransformerModel& model);

/// Parameters of the whole model, each counted once, without the modules of multi-token prediction and without
/// towers.
[[nodiscard]] std::int64_t parameters(const TransformerModel& model);
/// Parameters of a tower.
[[nodiscard]] std::int64_t parameters(const Tower& tower);
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
