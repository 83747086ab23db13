#pragma once
// How long the update of the weights takes.

#include "models/layers.hpp"
#include "scenarios/spec/training_entry.hpp"

namespace contend {

/// Adds the update of the weights to the forward passes, so that the parts add up to it exactly: that of the kernels,
/// in proportion to values, or that of the host (`update_per_tensor`), in proportion to tensors, whichever is longer.
/// None without an optimizer.
void add_update(const TrainingEntry& entry, TimedModel& model);

}  // namespace contend
