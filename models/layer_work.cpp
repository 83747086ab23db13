#include "models/layer_work.hpp"

#include <algorithm>

namespace contend {

namespace {

bool is_matrix_product(LayerKind kind) {
  return kind == LayerKind::convolution || kind == LayerKind::linear || kind == LayerKind::recurrent ||
         kind == LayerKind::attention;
}

// The bytes of the tensors of a layer, for the whole batch.
struct Traffic {
  double input = 0;
  double output = 0;
  double weights = 0;
};

Traffic traffic(const Layer& layer, int batch, double element_bytes) {
  const auto batch_bytes = [&](std::int64_t elements) { return static_cast<double>(elements) * batch * element_bytes; };
  const std::int64_t weights = layer.parameter_elements() + layer.shared_elements;
  return {batch_bytes(layer.input_elements), batch_bytes(layer.output_elements),
          static_cast<double>(weights) * element_bytes};
}

// An LSTM reads its weights again at every step. A look-up reads the rows it returns, not the whole table.
double weights_read(const Layer& layer, const Traffic& moved) {
  if (layer.kind == LayerKind::embedding) return 0;
  return layer.kind == LayerKind::recurrent ? moved.weights * layer.kernels : moved.weights;
}

}  // namespace

int activation_bytes(DataType type) {
  return std::max(2, bytes_of(type));
}

LayerWork forward_work(const Layer& layer, int batch, double element_bytes) {
  const Traffic moved = traffic(layer, batch, element_bytes);
  return {static_cast<double>(layer.forward_flops) * batch,
          moved.input * layer.input_reads + moved.output + weights_read(layer, moved), layer.kernels};
}

LayerWork input_gradient_work(const Layer& layer, int batch, double element_bytes) {
  if (!layer.input_needs_gradient) return {};
  const Traffic moved = traffic(layer, batch, element_bytes);
  LayerWork work{static_cast<double>(layer.input_gradient_flops) * batch, moved.input + moved.output, layer.kernels};
  // The kernel reads the gradient of the output and writes the gradient of the input; the kind decides what else it
  // reads.
  switch (layer.kind) {
    case LayerKind::attention:
      work.bytes += moved.input + moved.output;
      break;
    case LayerKind::normalization:
      // With statistics of the batch, a pass that sums over both tensors comes first.
      work.bytes += moved.input + (moved.input + moved.output) * (layer.input_reads - 1);
      break;
    case LayerKind::pooling:
    case LayerKind::activation:
      work.bytes += moved.input;
      break;
    default:
      work.bytes += weights_read(layer, moved);
      break;
  }
  return work;
}

LayerWork weight_gradient_work(const Layer& layer, int batch, double element_bytes) {
  const bool separate_kernel =
      (is_matrix_product(layer.kind) && layer.weight_gradient_flops > 0) || layer.kind == LayerKind::embedding;
  // For other kinds it is part of the kernel of the input gradient, unless there is none.
  if (!separate_kernel && (layer.parameters.empty() || layer.input_needs_gradient)) return {};
  const Traffic moved = traffic(layer, batch, element_bytes);
  return {static_cast<double>(layer.weight_gradient_flops) * batch, moved.input + moved.output + moved.weights, 1};
}

}  // namespace contend
