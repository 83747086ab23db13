#include "scenarios/study/study_model.hpp"

#include "calibration/calibrated_device.hpp"
#include "models/catalogue/catalogue.hpp"
#include "models/cost_model.hpp"
#include "scenarios/study/study_places.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "text/words.hpp"
#include "traces/layers/layer_reader.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr int kUsualBatch = 32;

std::optional<LayerTable> catalogue_table(const IterationStudy& study) {
  if (!study.model) return std::nullopt;
  const CatalogueEntry* entry = find_model(*study.model);
  CONTEND_CHECK(entry != nullptr, "a scenario names models of the catalogue");
  return build_model(*entry, study.sequence.value_or(0));
}

TimedModel from_file(const IterationStudy& study) {
  LayerReadOptions options;
  options.select = study.select;
  options.batch = study.batch;
  const std::optional<LayerTable> sizes = catalogue_table(study);
  if (sizes) options.sizes = &*sizes;
  return read_timed_model(*study.layers, options);
}

TimedModel from_roofline(const IterationStudy& study) {
  const Device* device = find_device(study.device.name);
  CONTEND_CHECK(device != nullptr, "a scenario names devices that there are");
  RooflineOptions options;
  options.type = study.type;
  return roofline_times(*catalogue_table(study), *device, study.batch.value_or(kUsualBatch), options);
}

TimedModel from_calibration(const IterationStudy& study, int batch) {
  return calibrated_times(*catalogue_table(study), *study.device.calibrated, batch, study.type);
}

/// The layers in the file with its times, all others with the device's predicted times.
TimedModel from_file_and_calibration(const IterationStudy& study) {
  LayerReadOptions options;
  options.select = study.select;
  options.batch = study.batch;
  TimedModel file = read_timed_model(*study.layers, options);
  TimedModel model = from_calibration(study, file.batch);
  model.device = fmt::format("{} and {}", file.device, model.device);
  std::vector<std::string> names;
  for (const TimedLayer& layer : model.layers) names.push_back(layer.name);
  std::vector<Complaint> complaints;
  for (TimedLayer& measured : file.layers) {
    const auto found = std::find(names.begin(), names.end(), measured.name);
    if (found == names.end()) {
      Complaint complaint;
      complaint.file = *study.layers;
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

TimedModel unscaled(const IterationStudy& study) {
  if (completes_table(study)) return from_file_and_calibration(study);
  if (study.layers) return from_file(study);
  return study.device.calibrated ? from_calibration(study, study.batch.value_or(kUsualBatch)) : from_roofline(study);
}

void scale(TimedModel& model, Time iteration) {
  const double factor =
      static_cast<double>(iteration.ns()) / static_cast<double>((model.forward() + model.backward()).ns());
  const auto scaled = [&](Time time) {
    return Time::nanoseconds(static_cast<std::int64_t>(std::llround(static_cast<double>(time.ns()) * factor)));
  };
  for (TimedLayer& layer : model.layers) {
    layer.forward = scaled(layer.forward);
    layer.backward = scaled(layer.backward);
    layer.origin += fmt::format(", x {:.4g} to the measured iteration", factor);
  }
}

}  // namespace

bool completes_table(const IterationStudy& study) {
  return study.layers && study.model && study.device.calibrated;
}

TimedModel study_model(const IterationStudy& study) {
  if (!study.given()) throw InputError{"there is no iteration to study: give overlap.model or overlap.layers"};
  try {
    TimedModel model = unscaled(study);
    if (study.single_worker) scale(model, *study.single_worker);
    validate(model);
    return model;
  } catch (const InputError& error) {
    // A network of the catalogue only fails for a batch that no device could compute.
    throw InputError{placed(study, study.layers ? "overlap.layers" : "overlap.batch", error.complaints())};
  }
}

}  // namespace contend
