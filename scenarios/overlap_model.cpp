// overlap_model(): the layer times of a study.
#include "models/catalogue/catalogue.hpp"
#include "models/cost_model.hpp"
#include "scenarios/overlap_run.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "traces/layers/layer_reader.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr int kUsualBatch = 32;

std::optional<LayerTable> catalogue_table(const OverlapStudy& study) {
  if (!study.model) return std::nullopt;
  const CatalogueEntry* entry = find_model(*study.model);
  CONTEND_CHECK(entry != nullptr, "a scenario names models of the catalogue");
  return build_model(*entry, study.sequence.value_or(0));
}

TimedModel from_file(const OverlapStudy& study) {
  LayerReadOptions options;
  options.select = study.select;
  options.batch = study.batch;
  const std::optional<LayerTable> sizes = catalogue_table(study);
  if (sizes) options.sizes = &*sizes;
  return read_timed_model(*study.layers, options);
}

TimedModel from_roofline(const OverlapStudy& study) {
  const Device* device = find_device(study.device);
  CONTEND_CHECK(device != nullptr, "a scenario names devices that there are");
  RooflineOptions options;
  options.type = study.type;
  return roofline_times(*catalogue_table(study), *device, study.batch.value_or(kUsualBatch), options);
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

TimedModel overlap_model(const OverlapStudy& study) {
  if (!study.given()) throw InputError{"there is no iteration to study: give overlap.model or overlap.layers"};
  TimedModel model = study.layers ? from_file(study) : from_roofline(study);
  if (study.single_worker) scale(model, *study.single_worker);
  validate(model);
  return model;
}

}  // namespace contend
