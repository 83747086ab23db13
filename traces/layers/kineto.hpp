#pragma once
// Layer times from a PyTorch profile (torch.profiler, Kineto), plain or gzip. What has to be recorded:
//   profile(activities=[CPU, CUDA], record_shapes=True, with_stack=True), one process with one GPU, forward and
//   backward
// `with_stack` makes the profiler record calls of nn.Module, which are the layers (`Conv2d_0`); instead, the user may
// mark them with record_function("layer:NAME"), which then are the layers and can be called what they are.
// `record_shapes` gives the sizes of the gradients.
//
// Attribution. A kernel belongs to the call that launched it (same correlation number).
//  - Forward: the innermost layer on the launching thread at that moment; what a block does itself, such as adding a
//    residual, is a layer with the name of the block.
//  - Backward: the autograd node around the launch has the sequence number of the forward operator that made it; among
//    the operators with that number the last one to start is the one, and its layer is meant. What the engine does
//    between nodes, such as adding up gradients, belongs to the node before. A layer that runs within a node
//    (recomputed activations) counts as its backward time.
//  - Gradients: the shapes that reach AccumulateGrad, in the layer of the node before.
// Times are sums of kernel times, averaged over the steps recorded (ProfilerStep, or as often as every layer was
// called): gaps in which the GPU waits are not in them, and kernels side by side count twice. Kernels of NCCL, and what
// lies outside all layers (loss, optimizer, copies), are left out and reported.

#include "text/byte_source.hpp"
#include "traces/layers/layer_options.hpp"

#include <cstdint>
#include <string>

namespace contend {

struct KinetoProfile {
  TimedModel model;
  std::int64_t steps = 0;  ///< iterations averaged over
  Time outside;            ///< GPU time of an iteration outside all layers
  Time communication;      ///< GPU time of an iteration in NCCL kernels
};

/// Takes batch, and sizes for a profile without shapes. Throws InputError that says which recording option is missing.
[[nodiscard]] KinetoProfile parse_kineto(ByteSource& source, const std::string& file,
                                         const LayerReadOptions& options = {});

}  // namespace contend
