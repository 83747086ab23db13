#include "scenarios/training/trained_model.hpp"

#include "calibration/calibrated_device.hpp"
#include "models/catalogue/attention.hpp"
#include "models/catalogue/catalogue.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "text/words.hpp"
#include "traces/layers/layer_reader.hpp"
#include "traces/layers/layer_table_csv.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr int kUsualBatch = 32;

TimedModel from_file(const TrainingSetup& setup) {
  LayerReadOptions options;
  options.select = setup.select;
  options.batch = setup.batch;
  const std::optional<LayerTable> sizes = network_of(setup);
  if (sizes) options.sizes = &*sizes;
  return read_timed_model(*setup.layers, options);
}

TimedModel from_roofline(const TrainingSetup& setup) {
  return roofline_times(*network_of(setup), sheet_of(setup.device), setup.batch.value_or(kUsualBatch),
                        roofline_options(setup));
}

/// A profile has one error for all kernels.
TimedModel from_calibration(const TrainingSetup& setup, int batch) {
  TimedModel model = calibrated_times(*network_of(setup), *setup.device.calibrated, batch, setup.type);
  for (TimedLayer& layer : model.layers) {
    layer.forward = scaled(layer.forward, setup.scales.products);
    layer.backward = scaled(layer.backward, setup.scales.products);
  }
  return model;
}

/// The layers in the file with its times, all others with the device's predicted times.
TimedModel from_file_and_calibration(const TrainingSetup& setup) {
  LayerReadOptions options;
  options.select = setup.select;
  options.batch = setup.batch;
  TimedModel file = read_timed_model(*setup.layers, options);
  TimedModel model = from_calibration(setup, file.batch);
  model.device = fmt::format("{} and {}", file.device, model.device);
  std::vector<std::string> names;
  for (const TimedLayer& layer : model.layers) names.push_back(layer.name);
  std::vector<Complaint> complaints;
  for (TimedLayer& measured : file.layers) {
    const auto found = std::find(names.begin(), names.end(), measured.name);
    if (found == names.end()) {
      Complaint complaint;
      complaint.file = *setup.layers;
      complaint.key = fmt::format("layer `{}`", measured.name);
      complaint.reason = fmt::format("model `{}` has no such layer", model.name);
      complaint.hint = did_you_mean(measured.name, names);
      complaints.push_back(std::move(complaint));
      continue;
    }
    TimedLayer& layer = model.layers[static_cast<std::size_t>(found - names.begin())];
    layer.forward = measured.forward;
    layer.backward = measured.backward;
    layer.origin = std::move(measured.origin);
    layer.basis = TimeBasis{PredictionBasis::measured, -1};
  }
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  return model;
}

/// A profile as a network of one layer with one gradient, of whole elements.
TimedModel from_profile(const TrainingProfile& profile) {
  TimedModel model;
  model.name = fmt::format("{}{}", kPublished, profile.name);
  model.device = "V100";
  model.batch = profile.batch;
  const std::int64_t width = model.gradient_element_bytes;
  TimedLayer all;
  all.name = "all layers";
  all.tensors.push_back({.name = "gradient", .elements = (profile.gradient.count() + width - 1) / width, .shape = {}});
  all.forward = profile.forward;
  all.backward = profile.backward;
  all.origin = profile.source;
  model.layers.push_back(std::move(all));
  return model;
}

/// A table of kernels without the factor of those that compress.
KernelCosts usual_kernels(const TrainingSetup& setup) {
  TrainingSetup usual = setup;
  usual.kernel_factor = 1;
  return kernel_costs(usual);
}

/// Has layers with matrices or filters cast their weights before the forward pass, and the gradients of these after the
/// backward pass; 4 bytes of fp32 and 2 of the narrow format for each value, a kernel for each tensor.
void cast_weights(const TrainingSetup& setup, TimedModel& model) {
  constexpr double kBytes = 4 + 2;
  const KernelCosts kernels = usual_kernels(setup);
  model.gradient_element_bytes = 4;
  for (TimedLayer& layer : model.layers) {
    const auto is_matrix = [](const ParameterTensor& tensor) { return tensor.shape.size() >= 2; };
    if (std::ranges::none_of(layer.tensors, is_matrix)) continue;
    double values = 0;
    for (const ParameterTensor& tensor : layer.tensors) values += static_cast<double>(tensor.elements);
    const Time cast = kernels.of({kBytes * values, 0, static_cast<int>(layer.tensors.size())});
    layer.forward += cast;
    layer.backward += cast;
    layer.origin += ", with casts";
  }
}

TimedModel unscaled(const TrainingSetup& setup) {
  if (const TrainingProfile* const profile = published_profile(setup); profile != nullptr)
    return from_profile(*profile);
  if (completes_table(setup)) return from_file_and_calibration(setup);
  if (setup.layers) return from_file(setup);
  return setup.device.calibrated ? from_calibration(setup, setup.batch.value_or(kUsualBatch)) : from_roofline(setup);
}

void scale(TimedModel& model, Time iteration) {
  const double factor =
      static_cast<double>(iteration.ns()) / static_cast<double>((model.forward() + model.backward()).ns());
  for (TimedLayer& layer : model.layers) {
    layer.forward = scaled(layer.forward, factor);
    layer.backward = scaled(layer.backward, factor);
    layer.origin += fmt::format(", x {:.4g} to the measured iteration", factor);
  }
}

}  // namespace

std::optional<LayerTable> network_of(const TrainingSetup& setup) {
  if (!setup.model) return std::nullopt;
  if (names_layer_table(*setup.model)) return read_layer_table(*setup.model);
  const CatalogueEntry* entry = find_model(*setup.model);
  CONTEND_CHECK(entry != nullptr, "a scenario names models of the catalogue");
  LayerTable table = build_model(*entry, setup.sequence.value_or(0));
  return setup.flash_attention().value_or(false) ? with_fused_attention(std::move(table)) : table;
}

const TrainingProfile* published_profile(const TrainingSetup& setup) {
  return setup.model ? find_published_profile(*setup.model) : nullptr;
}

bool completes_table(const TrainingSetup& setup) {
  return setup.layers && setup.model && setup.device.calibrated;
}

TimedModel trained_model(const TrainingSetup& setup) {
  TimedModel model = unscaled(setup);
  if (setup.mixed_precision) cast_weights(setup, model);
  if (setup.single_worker) scale(model, *setup.single_worker);
  validate(model);
  return model;
}

RooflineOptions roofline_options(const TrainingSetup& setup) {
  RooflineOptions options;
  options.type = setup.type;
  options.scales = setup.scales;
  options.attention = setup.attention.value_or(AttentionKernel::flash);
  options.sheet = setup.efficiency ? setup.efficiency->sheet : setup.as_framework;
  if (setup.efficiency && setup.efficiency->share)
    options.product_efficiency(sheet_of(setup.device)) = *setup.efficiency->share;
  return options;
}

KernelCosts kernel_costs(const TrainingSetup& setup) {
  if (setup.device.calibrated) return KernelCosts{setup.device.calibrated, setup.kernel_factor * setup.scales.products};
  return KernelCosts{sheet_of(setup.device), RooflineOptions{}, setup.kernel_factor * setup.scales.memory};
}

TrainingEntry entry_of_rank(const TrainingEntry& entry, std::size_t rank) {
  TrainingEntry own = entry;
  if (entry.parallel && !entry.parallel->devices.empty())
    own.device = DeviceChoice::named(entry.parallel->devices[rank]);
  return own;
}

ExchangeWork exchange_work(const TrainingSetup& setup) {
  ExchangeWork work{.host_ns_per_value = setup.host_ns_per_value, .staging = setup.staging};
  if (!setup.framework.none()) work.framework = ExchangeWork::Framework{setup.framework, usual_kernels(setup)};
  return work;
}

void use_method(const TrainingSetup& setup, const CompressionMethod* method, OverlapProblem& problem) {
  static_cast<ExchangeWork&>(problem) = exchange_work(setup);
  problem.method = method;
  problem.collective = setup.collective;
  if (method != nullptr) problem.kernels.emplace(kernel_costs(setup));
}

}  // namespace contend
