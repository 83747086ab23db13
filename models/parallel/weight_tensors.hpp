#pragma once
// The weights of a transformer tensor by tensor: what each tensor is for, its shape, and how a rank's part of it is
// cut. ParameterSplit (transformer.hpp) adds these tensors up. Optimizers whose states depend on shapes, adapters, and
// parts of a model that aren't trained ask for the single tensors.

#include "models/overlap/optimizers.hpp"
#include "models/parallel/layer_split.hpp"
#include "models/parallel/transformer.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace contend {

/// What a tensor is for.
enum class WeightGroup : std::uint8_t {
  embedding,  ///< tables of tokens, positions and types
  head,       ///< the matrix of the logits, the pooler
  norm,
  bias,
  query,
  key,
  value,
  output,  ///< behind attention
  latent,  ///< products inside attention and recurrences that adapters don't name, such as products of short vectors
  gate,
  up,
  down,
  router,
  relative,    ///< table of relative positions
  prediction,  ///< the product in front of a module of multi-token prediction
  adapter_in,
  adapter_out,  ///< A and B of LoRA (trained_part.hpp)
};

/// How tensor parallelism cuts a tensor: not at all, or by its rows or columns. Expert tensor parallelism cuts experts.
enum class TensorCut : std::uint8_t { none, rows, columns };

struct WeightTensor {
  WeightGroup group = WeightGroup::norm;
  std::int64_t rows = 1, columns = 1;  ///< of outputs, of inputs; a vector has one column
  std::int64_t count = 1;              ///< tensors alike
  TensorCut cut = TensorCut::none;
  bool experts = false;  ///< of routed experts, which expert parallelism divides
  /// The rows are the rows of a table, which is padded to a multiple of the ranks that have a part of it.
  bool padded = false;

  [[nodiscard]] std::int64_t elements() const { return rows * columns * count; }
  /// True of a matrix between embedding and head.
  [[nodiscard]] bool is_hidden() const;
  /// The whole tensors that a rank has a part of.
  [[nodiscard]] WeightShape whole(const LayerSplit& split) const;
  /// The rank's parts of them.
  [[nodiscard]] WeightShape part(const LayerSplit& split) const;
};

/// The tensors of a layer, of the embedding, of the head, of one module of multi-token prediction; the model is valid.
[[nodiscard]] std::vector<WeightTensor> layer_tensors(const TransformerModel& model, std::int64_t layer);
[[nodiscard]] std::vector<WeightTensor> embedding_tensors(const TransformerModel& model);
[[nodiscard]] std::vector<WeightTensor> head_tensors(const TransformerModel& model);
[[nodiscard]] std::vector<WeightTensor> mtp_tensors(const TransformerModel& model);
/// The table of tokens that a stage with the head has a copy of if it doesn't have the embedding.
[[nodiscard]] std::optional<WeightTensor> table_of_head(const TransformerModel& model);
/// The tensors of a stage, with its copy of a tied matrix if it has the head but not the embedding.
[[nodiscard]] std::vector<WeightTensor> stage_tensors(const TransformerModel& model, const LayerRange& stage);

}  // namespace contend
