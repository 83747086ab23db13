#pragma once
// What an optimizer reads, writes and keeps, and how long it takes.

#include "models/layers.hpp"
#include "models/overlap/kernel_costs.hpp"
#include "scenarios/scenario.hpp"

#include <cstdint>

namespace contend {

/// What an optimizer reads and writes, and keeps beside weights and gradients, in bytes for each parameter.
struct OptimizerBytes {
  double moved = 0;
  std::int64_t state = 0;
};

/// Weights, gradients and each state of 4 bytes are read, all but the gradients written. With gradients of 2 bytes the
/// weights of 2 bytes are written too, and the difference of the gradients makes up for that.
[[nodiscard]] OptimizerBytes bytes_of(Optimizer optimizer);

/// Adds the update of the weights to the forward passes, so that the parts add up to it exactly: that of the kernels,
/// in proportion to values, or that of the host (`update_per_tensor`), in proportion to tensors, whichever is longer.
/// None without an optimizer.
void add_update(const TrainingEntry& entry, TimedModel& model);

/// The kernel that updates so many weights, > 0, with which a network of so many bytes a number is trained. A
/// calibrated device measures it as the operator sgd_fused, adam_fused or, with numbers of 2 bytes, adam_mixed; SGD
/// without momentum has none.
[[nodiscard]] KernelWork update_work(Optimizer optimizer, double elements, int width);

}  // namespace contend
