#pragma once
// Which weights of a transformer are trained: all of them, those above frozen layers, or adapters beside frozen
// weights.
//
// LoRA (Hu et al., arXiv 2106.09685, section 4.1): beside a frozen matrix of m x n numbers two of m x r and r x n are
// trained. LoRA-FA (Zhang et al., arXiv 2308.03303, section 3): the first of these, A, is frozen, too, so that its
// input need not be kept. QLoRA (Dettmers et al., arXiv 2305.14314, section 3): frozen matrices of layers are kept in 4
// bits, with scales of blocks of 64 numbers that have scales of their own, 0.127 bits a number, and are turned into
// numbers of 2 bytes before each product.

#include "models/devices.hpp"
#include "models/parallel/layer_split.hpp"
#include "models/parallel/transformer.hpp"
#include "models/parallel/weight_tensors.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

enum class AdapterKind : std::uint8_t { lora, lora_fa, qlora };

/// What an adapter stands beside: one matrix, or, as `qkv` and `gate_up`, the matrix of the one product that engines
/// compute for several. The last three are groups: each matrix of attention, of feed-forwards, of both, that the model
/// has.
enum class AdapterTarget : std::uint8_t {
  query,
  key,
  value,
  qkv,
  output,
  gate,
  up,
  gate_up,
  down,
  attention,
  feed_forward,
  all,
};
/// Their names in an entry, such as `q`, in their order.
[[nodiscard]] std::span<const std::string_view> adapter_targets();
[[nodiscard]] std::string_view to_string(AdapterTarget target);
/// The matrices that a target is made of; not of groups.
[[nodiscard]] std::span<const WeightGroup> groups_of(AdapterTarget target);

struct Adapter {
  AdapterKind kind = AdapterKind::lora;
  std::int64_t rank = 16;  ///< >= 1
  std::vector<AdapterTarget> targets{};
  bool dropout = false;  ///< of the inputs of A

  /// With the matrices of the model in place of groups.
  [[nodiscard]] Adapter of(const TransformerModel& model) const;
  bool operator==(const Adapter&) const = default;
};

/// What the backward pass of a unit of the model has to do.
enum class BackwardPart : std::uint8_t {
  none,     ///< nothing: neither it nor what is in front of it is trained
  weights,  ///< nothing in front of it is trained, so nothing needs the gradient of its input
  all,
};

struct TrainedPart {
  std::optional<Adapter> adapter{};  ///< trains nothing else
  std::int64_t frozen_layers = 0;    ///< the first ones, >= 0
  bool frozen_embedding = false, frozen_head = false;

  /// Units of a model by index: its layers, the embedding and the head.
  static constexpr std::int64_t kEmbedding = -1, kHead = std::numeric_limits<std::int64_t>::max();
  /// True if something isn't trained.
  [[nodiscard]] bool is_part() const { return adapter || frozen_layers > 0 || frozen_embedding || frozen_head; }
  /// True if a tensor of this group in this unit is trained.
  [[nodiscard]] bool trains(WeightGroup group, std::int64_t unit) const;
  [[nodiscard]] BackwardPart backward(const TransformerModel& model, std::int64_t unit) const;
  bool operator==(const TrainedPart&) const = default;
};

/// Checks it, whose adapter names no groups, for a model. Throws InputError with every fault: a target that no layer of
/// the model has, or twice; a rank that is no smaller than a matrix; more frozen layers than there are; a tied head
/// that is frozen by itself; nothing that is trained.
void validate(const TrainedPart& part, const TransformerModel& model);

/// The matrices whose product has this name in a transformer (operators.hpp); none: others than an adapter's targets.
[[nodiscard]] std::vector<WeightGroup> groups_of_product(const TransformerModel& model, const TransformerLayer& kind,
                                                         std::string_view name);

/// A tensor of a stage, and whether it is trained.
struct StageTensor {
  WeightTensor tensor;
  bool trained = true;
};
/// All tensors of a stage; the tensors of adapters stand behind the tensors of their layer. Part and range are valid
/// for the model.
[[nodiscard]] std::vector<StageTensor> stage_tensors(const TransformerModel& model, const LayerRange& stage,
                                                     const TrainedPart& part);

/// Bytes of a number of a frozen tensor, of a model whose products are in this type: a matrix of a layer is kept in the
/// format of products where nothing updates it, in 4 bits by QLoRA.
[[nodiscard]] double frozen_width(const TrainedPart& part, const WeightTensor& tensor, DataType type);
/// Of QLoRA's matrices.
[[nodiscard]] double nf4_width();

/// What a rank holds of some part of a model.
struct HeldWeights {
  RankParameters trained;
  double frozen_dense = 0, frozen_experts = 0;  ///< bytes
};
[[nodiscard]] HeldWeights held_weights(const TransformerModel& model, const LayerRange& stage, const LayerSplit& split,
                                       const TrainedPart& part, DataType type);

/// Of the head of a stage, which has a table that it shares with the embedding once.
[[nodiscard]] HeldWeights held_by_head(const TransformerModel& model, const LayerRange& stage, const LayerSplit& split,
                                       const TrainedPart& part, DataType type);

/// Parameters that are trained in the whole model, adapters included.
[[nodiscard]] std::int64_t trained_parameters(const TransformerModel& model, const TrainedPart& part);

}  // namespace contend
