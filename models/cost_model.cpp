#include "models/cost_model.hpp"

#include "sim/complaints.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

double as_real(std::int64_t value) {
  return static_cast<double>(value);
}

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

// Tiles of the libraries' kernels.
constexpr std::array<std::pair<int, int>, 8> kTiles{
    {{256, 128}, {128, 256}, {128, 128}, {64, 256}, {256, 64}, {128, 64}, {64, 128}, {64, 64}}};

std::int64_t ceiling(std::int64_t size, std::int64_t part) {
  return (size + part - 1) / part;
}

/// Share of the peak that products reach before the power limit: the tile that ends first.
double tiled_share(KernelShape shape, int bytes, const ProductShare& reached, int units) {
  constexpr int kAligned = 16;     // bytes that matrix units load at once
  constexpr double kSlower = .73;  // vocabularies of 50,257 and 30,522 on an H100: 4.6 and 2.7 times as long
  const double work = as_real(shape.count) * as_real(shape.m) * as_real(shape.n) * as_real(shape.k);
  double aligned = 1;
  if (bytes == 1) {  // other rows aren't computed at all: they are padded
    for (std::int64_t* const side : {&shape.m, &shape.n, &shape.k}) *side = ceiling(*side, kAligned) * kAligned;
  } else {
    const std::int64_t row = std::gcd(shape.rows_of * bytes, std::int64_t{kAligned});
    aligned = std::pow(as_real(row) / kAligned, kSlower);
  }
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [high, wide] : kTiles) {
    const std::int64_t tiles = shape.count * ceiling(shape.m, high) * ceiling(shape.n, wide);
    const double edges = 1 + reached.edge * (1.0 / high + 1.0 / wide);
    least = std::min(least, as_real(ceiling(tiles, units)) * high * wide * edges);
  }
  const double largest = 1 + reached.edge * (1.0 / 256 + 1.0 / 128);
  return aligned * reached.share * largest * work / (units * least * (as_real(shape.k) + reached.fill));
}

/// Share of the peak that attention in one kernel reaches before the power limit.
double attention_share(const KernelShape& shape, const AttentionShare& reached, int units) {
  constexpr int kQueries = 128;  // of a tile
  const double filled = as_real(shape.count * ceiling(shape.m, kQueries)) / units;
  const auto part = [](std::int64_t size, double lost) { return as_real(size) / (as_real(size) + lost); };
  return reached.share * part(shape.k, reached.width) * part(shape.n, reached.length) * std::min(1.0, filled) *
         (shape.backward ? KernelShape::kBackwardAttention : 1);
}

/// The share by the device's sheet; nothing where that doesn't tell.
std::optional<double> sheet_share(double flops, const Device& device, const RooflineOptions& options,
                                  const KernelShape& shape) {
  const ProductShare* const reached = device.product_share(options.type);
  const bool is_named = shape.attention && options.attention != AttentionKernel::flash;
  if ((!options.sheet && !is_named) || reached == nullptr) return std::nullopt;
  double share = 0, tflop_per_joule = reached->tflop_per_joule;
  if (shape.attention) {
    if (options.attention_efficiency) return std::nullopt;
    const AttentionShare* const kernel = device.kernels.of(options.attention);
    if (kernel != nullptr && kernel->tflop_per_joule > 0) tflop_per_joule = kernel->tflop_per_joule;
    share = kernel != nullptr ? attention_share(shape, *kernel, device.units)
                              : tiled_share(shape, bytes_of(options.type), *reached, device.units);
  } else if (shape.m > 0) {
    share = tiled_share(shape, bytes_of(options.type), *reached, device.units);
  } else {
    const auto side = static_cast<std::int64_t>(std::ceil(std::cbrt(flops / 2)));
    share = tiled_share({.m = side, .n = side, .k = side}, bytes_of(options.type), *reached, device.units);
  }
  // The power limit lets products of a share `full` run at the clock of the peak. More lowers the clock until the power
  // fits, which falls with the square of the clock: fit of 850 products on an H200 (docs/models/layers.md).
  const double full = device.watts * tflop_per_joule * 1e12 / device.peak(options.type);
  return full > 0 && share > full ? std::sqrt(share * full) : share;
}

/// What the forward pass of a layer multiplies, if its geometry tells.
KernelShape shape_of(const Layer& layer, int batch) {
  if (!layer.geometry) return {};
  const LayerGeometry& of = *layer.geometry;
  const std::int64_t heads = of.heads * batch;
  switch (of.operation) {
    case LayerOperation::linear:
      return {1,
              of.positions() * batch,
              of.out_channels,
              of.channels,
              false,
              false,
              std::gcd(of.out_channels, of.channels)};
    case LayerOperation::convolution:
      return {1, layer.output_elements / of.out_channels * batch, of.out_channels,
              of.channels * of.window_height * of.window_width};
    case LayerOperation::attention_scores:
      return {heads, of.queries, of.keys, of.head_size};
    case LayerOperation::attention_context:
      return {heads, of.queries, of.head_size, of.keys};
    case LayerOperation::fused_attention:
      return KernelShape::of_attention(heads, of.queries, of.head_size, as_real(layer.forward_flops) * batch);
    default:
      return {};
  }
}

RooflineCost unscaled_cost(const LayerWork& work, const Device& device, const RooflineOptions& options,
                           const KernelShape& shape) {
  if (work.kernels == 0) return {};
  const double per_kernel_flops = work.flops / work.kernels;
  const double per_kernel_bytes = work.bytes / work.kernels;
  const double peak = device.peak(options.type);
  // Products come before quotients, so that round figures give whole nanoseconds.
  const double compute_ns =
      per_kernel_flops > 0 ? per_kernel_flops * 1e9 / (peak * efficiency(per_kernel_flops, device, options, shape)) : 0;
  const bool measured = options.sheet && !device.kernels.source.empty();
  const double memory_ns =
      per_kernel_bytes * 1e9 /
      (device.memory_bandwidth.bytes_per_second() * (measured ? device.kernels.memory : options.memory_efficiency));
  if (measured) {  // neither hides the other wholly
    const double both = std::pow(std::pow(compute_ns, 4) + std::pow(memory_ns, 4), .25);
    const double late_ns = work.late_bytes * 1e9 / (device.memory_bandwidth.bytes_per_second() * device.kernels.memory);
    return {(both + as_real(device.kernels.start.ns())) * work.kernels + late_ns, compute_ns > memory_ns};
  }
  const double kernel_ns = std::max(compute_ns, memory_ns) + static_cast<double>(options.launch_overhead.ns());
  return {kernel_ns * work.kernels, compute_ns > memory_ns};
}

}  // namespace

KernelShape KernelShape::of_attention(std::int64_t heads, std::int64_t queries, std::int64_t head_size, double flops) {
  const double keys = flops / (2 * as_real(heads) * as_real(queries) * as_real(head_size));
  return {.count = heads, .m = queries, .n = static_cast<std::int64_t>(keys), .k = head_size, .attention = true};
}

KernelShape KernelShape::of_inputs() const {
  KernelShape made = *this;
  made.backward = attention;
  if (!attention) std::swap(made.n, made.k);
  return made;
}

KernelShape KernelShape::of_weights() const {
  KernelShape made = *this;
  made.m = n, made.n = k, made.k = m;
  return made;
}

double efficiency(double flops, const Device& device, const RooflineOptions& options, const KernelShape& shape) {
  if (flops <= 0) return 0;
  if (const std::optional<double> share = sheet_share(flops, device, options, shape)) return *share;
  const double limit =
      device.uses_matrix_unit(options.type) ? options.matrix_unit_efficiency : options.vector_efficiency;
  const double half = device.peak(options.type) * limit * options.ramp.to_seconds();
  return limit * flops / (flops + half);
}

RooflineCost roofline_cost(const LayerWork& work, const Device& device, const RooflineOptions& options,
                           const KernelShape& shape) {
  RooflineCost cost = unscaled_cost(work, device, options, shape);
  const KernelScales& scales = options.scales;
  cost.ns *= shape.attention ? scales.attention : cost.compute_bound ? scales.products : scales.memory;
  return cost;
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
    const KernelShape shape = shape_of(layer, batch);
    const RooflineCost forward = roofline_cost(forward_work(layer, batch, element_bytes), device, options, shape);
    const RooflineCost input_gradient =
        roofline_cost(input_gradient_work(layer, batch, element_bytes), device, options, shape.of_inputs());
    const RooflineCost weight_gradient =
        roofline_cost(weight_gradient_work(layer, batch, element_bytes), device, options, shape.of_weights());
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
