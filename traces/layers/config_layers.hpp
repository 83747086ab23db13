#pragma once
// The layers of a model by the fields of its configuration.

#include "models/parallel/transformer.hpp"
#include "traces/layers/config_fields.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// Reads what the layers of a model are; its hidden size and its number of layers are known.
class LayerFields {
 public:
  LayerFields(ConfigFields& fields, const TransformerModel& model) : fields_{fields}, model_{model} {}

  /// The kind of each layer. Faults are noted with the fields; the layers are then not what the file means.
  std::vector<TransformerLayer> layers();
  /// The kinds of the layers of a module of multi-token prediction; none: one like the last layer.
  std::vector<TransformerLayer> prediction(const std::vector<TransformerLayer>& layers);

 private:
  enum class Mixing : std::uint8_t { full, window, chunk, linear, state_space, none };
  /// What the lists of a configuration say of a layer.
  struct Words {
    Mixing mixing = Mixing::full;
    bool has_feed_forward = true;
    bool is_mixture = false;
  };

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(model_.layers); }

  // Attention, in config_attention.cpp.
  TransformerLayer attention();
  std::int64_t key_value_heads(std::int64_t heads);
  std::int64_t head_size(std::int64_t heads);
  ProductBiases biases();
  void query_key_norms(TransformerLayer& layer);
  void latent(TransformerLayer& layer);
  void index(TransformerLayer& layer);
  Recurrence linear_attention(const TransformerLayer& layer);
  Recurrence delta_by_channel();
  Recurrence state_space();
  Recurrence first_state_space();
  void window_sizes(TransformerLayer& layer);
  void full_sizes(TransformerLayer& layer);
  void compression(std::size_t place, TransformerLayer& layer);

  // Which layer is what.
  std::vector<Words> words();
  bool by_lists(std::vector<Words>& all);
  void by_types(const std::vector<std::string>& types, std::string_view field, std::vector<Words>& all);
  void by_letters(std::string_view letters, std::string_view field, std::vector<Words>& all);
  void by_steps(std::vector<Words>& all);
  void windows(std::vector<Words>& all);
  void mixtures(std::vector<Words>& all);
  void plain_positions(const std::vector<Words>& words, std::vector<TransformerLayer>& layers);
  void share_keys(std::vector<TransformerLayer>& layers);
  std::vector<TransformerLayer> blocks(const TransformerLayer& usual);
  std::int64_t block_width(const JsonValue* half);

  // Feed-forwards.
  MixtureOfExperts mixture();
  void shared_experts(MixtureOfExperts& mixture);
  std::int64_t dense_width();
  TransformerLayer layer_of(const Words& words, const TransformerLayer& usual);
  void feed_forward(const Words& words, TransformerLayer& layer);

  ConfigFields& fields_;
  const TransformerModel& model_;
};

}  // namespace contend
