#pragma once
// The gradients of a model in the order of its backward pass.

#include "models/layers.hpp"

#include <cstddef>
#include <vector>

namespace contend::test {

/// A gradient and the time at which it can be sent.
struct ReadyGradient {
  std::size_t layer = 0;   ///< index into TimedModel::layers
  std::size_t tensor = 0;  ///< index into TimedLayer::tensors
  Bytes size;
  Time ready;  ///< time since the start of the backward pass
};

/// All gradients in the order in which the backward pass produces them: last layer first, last tensor of a layer first.
/// The gradients of a layer are ready when its backward task ends.
inline std::vector<ReadyGradient> ready_gradients(const TimedModel& model) {
  std::vector<ReadyGradient> gradients;
  Time ready;
  for (std::size_t layer = model.layers.size(); layer-- > 0;) {
    ready += model.layers[layer].backward;
    const std::vector<ParameterTensor>& tensors = model.layers[layer].tensors;
    for (std::size_t tensor = tensors.size(); tensor-- > 0;)
      gradients.push_back({layer, tensor, Bytes{tensors[tensor].elements * model.gradient_element_bytes}, ready});
  }
  return gradients;
}

}  // namespace contend::test
