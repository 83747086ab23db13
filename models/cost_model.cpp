#include "models/cost_model.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>
#include <fmt/format.h>

namespace contend {

namespace {

// One pass of a layer: kernels that share flops and bytes evenly.
struct Work {
  double flops = 0;
  double bytes = 0;
  int kernels = 0;
};

struct Cost {
  double ns = 0;
  bool compute_bound = false;
};

bool is_matrix_product(LayerKind kind) {
  return kind == LayerKind::convolution || kind == LayerKind::linear || kind == LayerKind::recurrent ||
         kind == LayerKind::attention;
}

// What a layer moves, in bytes for the whole batch.
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

// An LSTM reads its weights anew at every step. A look-up reads the rows it returns, not the whole table.
double weights_read(const Layer& layer, const Traffic& moved) {
  if (layer.kind == LayerKind::embedding) return 0;
  return layer.kind == LayerKind::recurrent ? moved.weights * layer.kernels : moved.weights;
}

Work forward_work(const Layer& layer, int batch, const Traffic& moved) {
  return {static_cast<double>(layer.forward_flops) * batch,
          moved.input * layer.input_reads + moved.output + weights_read(layer, moved), layer.kernels};
}

Work input_gradient_work(const Layer& layer, int batch, const Traffic& moved) {
  if (!layer.input_needs_gradient) return {};
  Work work{static_cast<double>(layer.input_gradient_flops) * batch, moved.input + moved.output, layer.kernels};
  // The gradient of the output in, that of the input out; what else is read depends on the kind.
  switch (layer.kind) {
    case LayerKind::attention:
      work.bytes += moved.input + moved.output;
      break;
    case LayerKind::normalization:
      // Sums over both come first where statistics of the batch do.
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

Work weight_gradient_work(const Layer& layer, int batch, const Traffic& moved) {
  const bool separate_kernel =
      (is_matrix_product(layer.kind) && layer.weight_gradient_flops > 0) || layer.kind == LayerKind::embedding;
  // Elsewhere it is part of the kernel of the input gradient, unless there is none.
  if (!separate_kernel && (layer.parameters.empty() || layer.input_needs_gradient)) return {};
  return {static_cast<double>(layer.weight_gradient_flops) * batch, moved.input + moved.output + moved.weights, 1};
}

class Roofline {
 public:
  Roofline(const Device& device, const RooflineOptions& options) : device_{device}, options_{options} {}

  [[nodiscard]] Cost cost(const Work& work) const {
    if (work.kernels == 0) return {};
    const double per_kernel_flops = work.flops / work.kernels;
    const double per_kernel_bytes = work.bytes / work.kernels;
    const double peak = device_.peak(options_.type);
    // Products before quotients, so that round figures stay whole nanoseconds.
    const double compute_ns =
        per_kernel_flops > 0 ? per_kernel_flops * 1e9 / (peak * efficiency(per_kernel_flops, device_, options_)) : 0;
    const double memory_ns =
        per_kernel_bytes * 1e9 / (device_.memory_bandwidth.bytes_per_second() * options_.memory_efficiency);
    const double kernel_ns = std::max(compute_ns, memory_ns) + static_cast<double>(options_.launch_overhead.ns());
    return {kernel_ns * work.kernels, compute_ns > memory_ns};
  }

 private:
  const Device& device_;
  const RooflineOptions& options_;
};

std::string_view bound(bool compute) {
  return compute ? "compute" : "memory";
}

std::vector<Diagnostic> faults(const Device& device, int batch, const RooflineOptions& options) {
  std::vector<Diagnostic> found;
  const auto complain = [&](const char* key, std::string reason) {
    Diagnostic diagnostic;
    diagnostic.key = key;
    diagnostic.reason = std::move(reason);
    found.push_back(std::move(diagnostic));
  };
  if (batch < 1) complain("batch", fmt::format("expected at least 1, got {}", batch));
  if (options.type == DataType::int8) complain("type", "int8 is for inference; nothing is trained in it");
  if (!device.supports(options.type)) {
    std::vector<std::string_view> supported;
    for (const DataType type : kDataTypes) {
      if (device.supports(type) && type != DataType::int8) supported.push_back(to_string(type));
    }
    complain("type",
             fmt::format("{} has no {}; it has {}", device.name, to_string(options.type), fmt::join(supported, ", ")));
  }
  const auto check_fraction = [&](const char* key, double value) {
    if (!(value > 0 && value <= 1)) complain(key, fmt::format("expected a number above 0, at most 1, got {}", value));
  };
  check_fraction("matrix_unit_efficiency", options.matrix_unit_efficiency);
  check_fraction("vector_efficiency", options.vector_efficiency);
  check_fraction("memory_efficiency", options.memory_efficiency);
  if (options.ramp < Time{}) complain("ramp", "must not be negative");
  if (options.launch_overhead < Time{}) complain("launch_overhead", "must not be negative");
  return found;
}

// fp8 holds the operands of products; what lies in memory between layers stays in 2 bytes (Micikevicius et al., "FP8
// formats for deep learning", arXiv 2209.05433, section 4).
int activation_bytes(DataType type) {
  return std::max(2, bytes_of(type));
}

// A pass of a layer that takes longer than a day is a slip in the batch or the device, and might not fit into a Time.
Time time_of(const Layer& layer, double ns, std::vector<Diagnostic>& found) {
  constexpr double kDay_ns = 86'400e9;
  if (ns <= kDay_ns) return Time::ceil_nanoseconds(ns);
  Diagnostic diagnostic;
  diagnostic.key = fmt::format("layer `{}`", layer.name);
  diagnostic.reason = fmt::format("a pass would take {:.3g} s, more than a day", ns * 1e-9);
  found.push_back(std::move(diagnostic));
  return {};
}

}  // namespace

double efficiency(double flops, const Device& device, const RooflineOptions& options) {
  const double limit =
      device.uses_matrix_unit(options.type) ? options.matrix_unit_efficiency : options.vector_efficiency;
  const double half = device.peak(options.type) * limit * options.ramp.to_seconds();
  return flops > 0 ? limit * flops / (flops + half) : 0;
}

TimedModel roofline_times(const LayerTable& table, const Device& device, int batch, const RooflineOptions& options) {
  validate(table);
  validate(device);
  std::vector<Diagnostic> found = faults(device, batch, options);
  if (!found.empty()) throw InputError{std::move(found)};

  const Roofline roofline{device, options};
  const double element_bytes = activation_bytes(options.type);
  TimedModel model;
  model.name = table.name;
  model.device = device.name;
  model.batch = batch;
  model.gradient_element_bytes = options.gradient_element_bytes.value_or(activation_bytes(options.type));
  for (const Layer& layer : table.layers) {
    const Traffic moved = traffic(layer, batch, element_bytes);
    const Cost forward = roofline.cost(forward_work(layer, batch, moved));
    const Cost input_gradient = roofline.cost(input_gradient_work(layer, batch, moved));
    const Cost weight_gradient = roofline.cost(weight_gradient_work(layer, batch, moved));
    TimedLayer timed;
    timed.name = layer.name;
    timed.tensors = layer.parameters;
    timed.forward = time_of(layer, forward.ns, found);
    timed.backward = time_of(layer, input_gradient.ns + weight_gradient.ns, found);
    timed.origin =
        fmt::format("roofline {} {}: forward bound by {}, backward by {}", device.name, to_string(options.type),
                    bound(forward.compute_bound), bound(input_gradient.compute_bound || weight_gradient.compute_bound));
    model.layers.push_back(std::move(timed));
  }
  if (!found.empty()) throw InputError{std::move(found)};
  validate(model);
  return model;
}

}  // namespace contend
