#pragma once
// Which gradients and weights of a stage are exchanged together.

#include "models/parallel/training_iteration.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend {

/// Units of a stage whose gradients or weights are exchanged together.
struct GradientBucket {
  std::size_t first = 0, last = 0;     ///< units, both included
  std::int64_t dense = 0, expert = 0;  ///< elements on each rank
  std::int64_t dense_tensors = 0, expert_tensors = 0;
  Bytes frozen_dense{}, frozen_experts{};  ///< of weights that have no gradients

  /// All weights of the bucket, in elements of so many bytes.
  [[nodiscard]] GradientBucket weights(int element_bytes) const;
};

/// The buckets of a stage in forward order; they are filled from the end on, as gradients become ready.
[[nodiscard]] std::vector<GradientBucket> gradient_buckets(const TrainingIteration& job, std::size_t stage);

/// True if activations of the stage lie on the host between its passes.
[[nodiscard]] bool moves_activations(const TrainingIteration& job, std::size_t stage);

}  // namespace contend
