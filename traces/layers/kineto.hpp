#pragma once
// Reads layer times from a PyTorch profile (torch.profiler, Kineto), plain or gzip. It must have been recorded with
//   profile(activities=[CPU, CUDA], record_shapes=True, with_stack=True)
// in one process with one GPU, and must contain the forward and the backward pass. `with_stack` makes the profiler
// record calls of nn.Module, which are the layers (`Conv2d_0`). Alternatively, the user marks layers by
// record_function("layer:NAME"), which chooses their names. `record_shapes` gives the sizes of the gradients.
//
// Attribution. A kernel belongs to the call that launched it (same correlation number).
//  - Forward: the innermost layer on the launching thread at that moment; the own work of a block, such as adding a
//    residual, is a layer with the name of the block.
//  - Backward: the autograd node around the launch has the sequence number of the forward operator that made it. Of the
//    operators with that number, the last one to start counts, and the kernel belongs to its layer. Work of the engine
//    between nodes, such as adding up gradients, belongs to the node before. A layer that runs within a node
//    (recomputed activations) counts as its backward time.
//  - Gradients: the shapes that reach AccumulateGrad, in the layer of the node before.
// Times are sums of kernel times, averaged over the recorded steps (ProfilerStep, or the number of calls of every
// layer): gaps in which the GPU waits are not included, and concurrent kernels count twice. NCCL kernels, and work
// outside all layers (loss, optimizer, copies), are left out and reported.

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

/// Uses batch, and sizes for a profile without shapes. Throws InputError, which names a missing recording option.
[[nodiscard]] KinetoProfile parse_kineto(ByteSource& source, const std::string& file,
                                         const LayerReadOptions& options = {});

}  // namespace contend
