#include "models/cost_model.hpp"

#include "sim/complaints.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <fmt/format.h>

namespace contend {

namespace {

std::string_view bound(bool compute) {
  return compute ? "compute" : "memory";
}

// A pass of a layer that takes longer than a day means an error in the batch or the device, and might not fit a Time.
Time time_of(const Layer& layer, double ns, Complaints& found) {
  constexpr double kDay_ns = 86'400e9;
  if (ns <= kDay_ns) return Time::ceil_nanoseconds(ns);
  found.add(fmt::format("layer `{}`", layer.name),
            fmt::format("a pass would take {:.3g} s, more than a day", ns * 1e-9));
  return {};
}

}  // namespace

double efficiency(double flops, const Device& device, const RooflineOptions& options) {
  const double limit =
      device.uses_matrix_unit(options.type) ? options.matrix_unit_efficiency : options.vector_efficiency;
  const double half = device.peak(options.type) * limit * options.ramp.to_seconds();
  return flops > 0 ? limit * flops / (flops + half) : 0;
}

RooflineCost roofline_cost(const LayerWork& work, const Device& device, const RooflineOptions& options) {
  if (work.kernels == 0) return {};
  const double per_kernel_flops = work.flops / work.kernels;
  const double per_kernel_bytes = work.bytes / work.kernels;
  const double peak = device.peak(options.type);
  // Products come before quotients, so that round figures give whole nanoseconds.
  const double compute_ns =
      per_kernel_flops > 0 ? per_kernel_flops * 1e9 / (peak * efficiency(per_kernel_flops, device, options)) : 0;
  const double memory_ns =
      per_kernel_bytes * 1e9 / (device.memory_bandwidth.bytes_per_second() * options.memory_efficiency);
  const double kernel_ns = std::max(compute_ns, memory_ns) + static_cast<double>(options.launch_overhead.ns());
  return {kernel_ns * work.kernels, compute_ns > memory_ns};
}

void validate(const RooflineOptions& options, const Device& device) {
  validate(device);
  Complaints found;
  if (options.type == DataType::int8) found.add("type", "int8 is for inference only; training needs another type");
  if (!device.supports(options.type)) {
    std::vector<std::string_view> supported;
    for (const DataType type : kDataTypes) {
      if (device.supports(type) && type != DataType::int8) supported.push_back(to_string(type));
    }
    found.add("type",
              fmt::format("{} has no {}; it has {}", device.name, to_string(options.type), fmt::join(supported, ", ")));
  }
  const auto check_fraction = [&](const char* key, double value) {
    if (!(value > 0 && value <= 1)) found.add(key, fmt::format("expected a number above 0, at most 1, got {}", value));
  };
  check_fraction("matrix_unit_efficiency", options.matrix_unit_efficiency);
  check_fraction("vector_efficiency", options.vector_efficiency);
  check_fraction("memory_efficiency", options.memory_efficiency);
  if (options.ramp < Time{}) found.add("ramp", "must not be negative");
  if (options.launch_overhead < Time{}) found.add("launch_overhead", "must not be negative");
  found.throw_if_any();
}

TimedModel roofline_times(const LayerTable& table, const Device& device, int batch, const RooflineOptions& options) {
  validate(table);
  Complaints found;
  if (batch < 1) found.add("batch", fmt::format("expected at least 1, got {}", batch));
  found.collect([&] { validate(options, device); });
  found.throw_if_any();

  const double element_bytes = activation_bytes(options.type);
  TimedModel model;
  model.name = table.name;
  model.device = device.name;
  model.batch = batch;
  model.gradient_element_bytes = options.gradient_element_bytes.value_or(activation_bytes(options.type));
  for (const Layer& layer : table.layers) {
    const RooflineCost forward = roofline_cost(forward_work(layer, batch, element_bytes), device, options);
    const RooflineCost input_gradient =
        roofline_cost(input_gradient_work(layer, batch, element_bytes), device, options);
    const RooflineCost weight_gradient =
        roofline_cost(weight_gradient_work(layer, batch, element_bytes), device, options);
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
  found.throw_if_any();
  validate(model);
  return model;
}

}  // namespace contend
