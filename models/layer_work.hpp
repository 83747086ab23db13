#pragma once
// What the passes of a layer compute and move at least, on any device.

#include "models/devices.hpp"
#include "models/layers.hpp"

namespace contend {

/// One pass of a layer: kernels that share flops and bytes evenly. No kernels: nothing to do.
struct LayerWork {
  double flops = 0;
  double bytes = 0;
  int kernels = 0;
};

/// Bytes of an activation in memory. fp8 holds the operands of products; what lies in memory between layers stays in 2
/// bytes (Micikevicius et al., "FP8 formats for deep learning", arXiv 2209.05433, section 4).
[[nodiscard]] int activation_bytes(DataType type);

/// Of `batch` samples, where a number takes `element_bytes`. Each tensor is read or written once a kernel
/// (Layer::input_reads is the exception).
[[nodiscard]] LayerWork forward_work(const Layer& layer, int batch, double element_bytes);
/// Backward, for the layer before; nothing where nothing before needs it.
[[nodiscard]] LayerWork input_gradient_work(const Layer& layer, int batch, double element_bytes);
/// Backward, for the layer's own parameters; nothing where that is part of the kernel above.
[[nodiscard]] LayerWork weight_gradient_work(const Layer& layer, int batch, double element_bytes);

}  // namespace contend
