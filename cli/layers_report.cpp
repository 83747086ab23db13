#include "cli/layers_report.hpp"

#include "calibration/calibrated_device.hpp"
#include "calibration/missing_operators.hpp"
#include "cli/text_table.hpp"
#include "scenarios/training/trained_model.hpp"
#include "sim/counted.hpp"
#include "text/decimal.hpp"
#include "text/json_writer.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::size_t kNamed = 5;  ///< layers that a warning names

std::string error_text(const std::optional<TimeBasis>& basis) {
  return !basis || basis->relative_error < 0 ? "-" : fmt::format("{:.1f}", 100 * basis->relative_error);
}

std::int64_t elements_of(const TimedLayer& layer) {
  std::int64_t elements = 0;
  for (const ParameterTensor& tensor : layer.tensors) elements += tensor.elements;
  return elements;
}

std::string summary_text(const BasisSummary& summary) {
  double total = 0;
  for (const double seconds : summary.seconds) total += seconds;
  std::vector<std::string> parts;
  for (const PredictionBasis basis :
       {PredictionBasis::measured, PredictionBasis::interpolated, PredictionBasis::extrapolated}) {
    const auto i = static_cast<std::size_t>(basis);
    if (summary.layers[i] > 0)
      parts.push_back(fmt::format("{} {} ({:.1f}% of the time)", to_string(basis), counted(summary.layers[i], "layer"),
                                  100 * summary.seconds[i] / total));
  }
  return fmt::format(
      "{}; expected error of the sum: {:.1f}% if the layers' errors are fully correlated, {:.1f}% if independent\n",
      fmt::join(parts, ", "), 100 * summary.together, 100 * summary.independent);
}

std::string named(std::vector<std::string> names) {
  const bool more = names.size() > kNamed;
  names.resize(std::min(names.size(), kNamed));
  return fmt::format("{}{}", fmt::join(names, ", "), more ? ", ..." : "");
}

/// The operators that the profile lacks for the layers that it should time.
std::vector<MissingOperator> missing_of(const TrainingSetup& setup, int batch, const std::vector<std::string>& layers) {
  const std::optional<LayerTable> table = network_of(setup);
  if (!table) return {};
  auto missing = missing_operators(setup.device.calibrated->profile(), *table, batch, setup.type);
  for (MissingOperator& each : missing)
    std::erase_if(each.layers,
                  [&](const std::string& layer) { return std::ranges::find(layers, layer) == layers.end(); });
  std::erase_if(missing, [](const MissingOperator& each) { return each.layers.empty(); });
  return missing;
}

}  // namespace

std::string layers_text(const TimedModel& model) {
  const BasisSummary summary = summarise_basis(model);
  std::vector<std::string> titles{"layer", "parameters", "gradient [KiB]", "forward [us]", "backward [us]"};
  if (summary.known) titles.insert(titles.end(), {"basis", "error [%]"});
  titles.emplace_back("origin");
  Table table{titles};
  if (summary.known) table.align_left(5);
  table.align_left(titles.size() - 1);
  std::vector<double> kib, forward, backward;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    kib.push_back(model.gradient(i).to_double() / 1024);
    forward.push_back(static_cast<double>(model.layers[i].forward.ns()) / 1e3);
    backward.push_back(static_cast<double>(model.layers[i].backward.ns()) / 1e3);
  }
  const auto kib_text = format_column(kib), forward_text = format_column(forward),
             backward_text = format_column(backward);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const TimedLayer& layer = model.layers[i];
    std::vector<std::string> cells{layer.name, fmt::format("{}", elements_of(layer)), kib_text[i], forward_text[i],
                                   backward_text[i]};
    if (summary.known) {
      cells.push_back(layer.basis ? std::string{to_string(layer.basis->basis)} : "-");
      cells.push_back(error_text(layer.basis));
    }
    cells.push_back(layer.origin);
    table.add(std::move(cells));
  }
  return fmt::format("{} on {}, batch {}: forward {:.3f} ms, backward {:.3f} ms, {} parameters\n{}", model.name,
                     model.device, model.batch, model.forward().to_seconds() * 1e3, model.backward().to_seconds() * 1e3,
                     model.gradient_elements(), summary.known ? summary_text(summary) : "") +
         table.text();
}

std::string layers_json(const TimedModel& model) {
  const BasisSummary summary = summarise_basis(model);
  JsonWriter json;
  json.begin_object().member("model", model.name).member("device", model.device).member("batch", model.batch);
  json.key("forward_s").raw(format_seconds(model.forward())).key("backward_s").raw(format_seconds(model.backward()));
  json.member("parameters", model.gradient_elements());
  if (summary.known) {
    json.member("error_if_correlated", summary.together).member("error_if_independent", summary.independent);
  }
  json.key("layers").begin_array();
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const TimedLayer& layer = model.layers[i];
    json.begin_object().member("layer", layer.name).member("parameters", elements_of(layer));
    json.member("gradient_bytes", model.gradient(i).count());
    json.key("forward_s").raw(format_seconds(layer.forward)).key("backward_s").raw(format_seconds(layer.backward));
    if (layer.basis) {
      json.member("basis", to_string(layer.basis->basis)).key("relative_error");
      if (layer.basis->relative_error < 0)
        json.null();
      else
        json.value(layer.basis->relative_error);
    }
    json.member("origin", layer.origin).end_object();
  }
  json.end_array().end_object();
  return json.take();
}

std::vector<std::string> calibration_warnings(const IterationStudy& study, const TimedModel& model) {
  const DeviceChoice& device = study.entry.device;
  std::vector<std::string> warnings;
  if (!device.calibrated) return warnings;
  const auto warn = [&](const std::string& what) { warnings.push_back(fmt::format("{}: {}", *device.profile, what)); };
  const CalibrationProfile& profile = device.calibrated->profile();
  if (!profile.complete) warn("the calibration is incomplete");
  for (const std::string& each : profile.warnings) warn("during the calibration: " + each);
  const BasisSummary summary = summarise_basis(model);
  const auto beyond = static_cast<std::size_t>(PredictionBasis::extrapolated);
  if (summary.layers[beyond] == 0) return warnings;
  std::vector<std::string> names;
  for (const TimedLayer& layer : model.layers) {
    const bool has_time = layer.forward > Time{} || layer.backward > Time{};
    if (has_time && layer.basis && layer.basis->basis == PredictionBasis::extrapolated) names.push_back(layer.name);
  }
  const double total = (model.forward() + model.backward()).to_seconds();
  warn(
      fmt::format("{}: {} of {} layers ({:.1f}% of the time) need shapes beyond the measured range: {}; `contend show "
                  "--layers` lists them",
                  model.name, names.size(), model.layers.size(), 100 * summary.seconds[beyond] / total, named(names)));
  const std::vector<MissingOperator> missing = missing_of(study.entry, model.batch, names);
  if (missing.empty()) return warnings;
  const std::string command = measuring_command(profile, *device.profile, missing);
  warn(
      fmt::format("of these, it has no times at all of {}: the least work at the rates of products and copies stands "
                  "for them{}",
                  missing_text(missing), command.empty() ? "" : fmt::format("; `{}` measures them", command)));
  return warnings;
}

}  // namespace contend
