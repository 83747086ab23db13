#pragma once
// How long the update of the weights takes, and what its optimizer keeps.

#include "models/layers.hpp"
#include "models/parallel/layer_split.hpp"
#include "models/parallel/training_iteration.hpp"
#include "models/parallel/transformer.hpp"
#include "scenarios/spec/training_entry.hpp"

#include <vector>

namespace contend {

/// Adds the update of the weights on one of so many workers to the forward passes, so that the parts add up to it
/// exactly: the kernels' update, in proportion to values, or the host's (`update_per_tensor`), in proportion to
/// tensors, whichever is longer. None without an optimizer.
void add_update(const TrainingEntry& entry, TimedModel& model, int workers);
/// What the optimizer of the entry, which has one, keeps of such a model on each GPU.
[[nodiscard]] Bytes kept_by(const TrainingEntry& entry, const TimedModel& model);
/// Kernels of the products of an update of the model.
[[nodiscard]] std::int64_t product_kernels(const TrainingEntry& entry, const TimedModel& model);

/// The update of what a pipeline rank keeps on each of its GPUs.
struct RankUpdate {
  Time time;
  bool by_tensor = false;  ///< it takes as long as launching it tensor by tensor
  HostTraffic host{};      ///< bytes that the update moves on hosts
  std::vector<UpdateGather> gathers{};
  std::int64_t kernels = 0;  ///< of products
};
/// Of a rank that has these stages of the model, whose layers `ranges` gives. `entry` has the rank's device.
[[nodiscard]] RankUpdate rank_update(const TrainingEntry& entry, const TransformerModel& model, const LayerSplit& split,
                                     const TrainingIteration& job, const std::vector<int>& stages,
                                     const std::vector<LayerRange>& ranges);

/// True if what the optimizer keeps are whole bytes for each parameter.
[[nodiscard]] bool keeps_by_parameter(const TrainingEntry& entry);
/// What the optimizer of the entry, which has one, keeps on each GPU of a rank with these stages. `width`: bytes of the
/// weights that the rank trains, beside which it may keep a copy.
[[nodiscard]] Bytes kept_by_rank(const TrainingEntry& entry, const TransformerModel& model, const LayerSplit& split,
                                 const TrainingIteration& job, const std::vector<LayerRange>& ranges,
                                 std::int64_t width);
/// What a checkpoint of the whole model has: the weights that are trained, and what the optimizer keeps of them.
[[nodiscard]] Bytes whole_state(const TrainingEntry& entry, const TransformerModel& model);

}  // namespace contend
