#pragma once
// Computes the least work of the passes of a layer on any device: the flops that they compute and the bytes that they
// move.

#include "models/devices.hpp"
#include "models/layers.hpp"

namespace contend {

/// The work of one pass of a layer. Its kernels share flops and bytes evenly; no kernels mean no work.
struct LayerWork {
  double flops = 0;
  double bytes = 0;
  int kernels = 0;
  double late_bytes = 0;  ///< beyond `bytes`: read when a kernel has no flops left that hide the reading
};

/// Bytes of an activation in memory. fp8 is for the operands of products; activations between layers have 2 bytes
/// (Micikevicius et al., "FP8 formats for deep learning", arXiv 2209.05433, section 4).
[[nodiscard]] int activation_bytes(DataType type);

/// The work of the forward pass for `batch` samples, with numbers of `element_bytes`. Each kernel reads or writes each
/// of its tensors once (Layer::input_reads is the exception).
[[nodiscard]] LayerWork forward_work(const Layer& layer, int batch, double element_bytes);
/// The work of the backward pass for the gradient of the input; none if no layer before needs it.
[[nodiscard]] LayerWork input_gradient_work(const Layer& layer, int batch, double element_bytes);
/// The work of the backward pass for the gradients of the parameters; none if the kernels of the input gradient include
/// it.
[[nodiscard]] LayerWork weight_gradient_work(const Layer& layer, int batch, double element_bytes);

}  // namespace contend
