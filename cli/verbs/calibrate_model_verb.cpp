#include "calibration/calibrated_device.hpp"
#include "calibration/model_measurement.hpp"
#include "cli/calibrate_backend.hpp"
#include "cli/calibrate_report.hpp"
#include "cli/clock.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/running.hpp"
#include "cli/version.hpp"
#include "models/catalogue/catalogue.hpp"
#include "sim/counted.hpp"
#include "text/own_files.hpp"
#include "traces/layers/timed_csv.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::uint64_t kMostBatch = 1'000'000, kLongest = 10'000'000;
constexpr int kUsualBatch = 32;
constexpr double kUsualBudget = 120;
constexpr std::size_t kShownReasons = 10;

DataType type_of(const Arguments& arguments) {
  const std::string text = arguments.value("type").value_or("fp32");
  std::vector<std::string> names;
  for (const DataType type : find_operator("gemm")->types) {
    if (text == to_string(type)) return type;
    names.emplace_back(to_string(type));
  }
  throw UsageError{
      fmt::format("--type: expected one of {}, got \"{}\"{}", fmt::join(names, ", "), text, suggestion(text, names))};
}

LayerTable table_of(const Arguments& arguments) {
  const std::string& name = arguments.positionals().front();
  const CatalogueEntry* const entry = find_model(name);
  if (entry == nullptr)
    throw UsageError{fmt::format("contend calibrate model: `contend list networks` has no \"{}\"{}", name,
                                 suggestion(name, model_names()))};
  return build_model(*entry, static_cast<std::int64_t>(arguments.whole_number("sequence", 1, kLongest).value_or(0)));
}

ModelMeasurementRequest model_request_of(const Arguments& arguments) {
  if (!arguments.has("output"))
    throw UsageError{"contend calibrate model: expected -o FILE, to which the table is written"};
  ModelMeasurementRequest request;
  request.batch = static_cast<int>(arguments.whole_number("batch", 1, kMostBatch).value_or(kUsualBatch));
  request.type = type_of(arguments);
  request.device = static_cast<int>(arguments.whole_number("device", 0, kMostDevices).value_or(0));
  request.budget_seconds = kUsualBudget;
  if (const auto seconds = arguments.whole_number("budget", 1, kMostSeconds))
    request.budget_seconds = static_cast<double>(*seconds);
  request.partial = arguments.has("partial");
  request.note = fmt::format("contend {} {}", version(), utc_now());
  return request;
}

void print_summary(const ModelMeasurement& result, const std::string& path) {
  const TimedModel& model = result.model;
  const BasisSummary basis = summarise_basis(model);
  print_output("{} on {}, batch {}: {} layers measured, forward {:.3f} ms, backward {:.3f} ms, within {:.1f}%; in {}\n",
               model.name, model.device, model.batch, model.layers.size(), model.forward().to_seconds() * 1e3,
               model.backward().to_seconds() * 1e3, 100 * basis.together, path);
}

void print_missing(const ModelMeasurement& result) {
  print_message("contend: {} {} be measured, such as {}:\n", counted(result.missing.size(), "layer"),
                result.refused ? "can't" : "could not", result.missing.front());
  for (std::size_t i = 0; i < std::min(result.reasons.size(), kShownReasons); ++i)
    print_message("  {}\n", result.reasons[i]);
  if (result.reasons.size() > kShownReasons)
    print_message("  and {} more operations\n", result.reasons.size() - kShownReasons);
}

int report(const Arguments& arguments, const ModelMeasurement& result) {
  const std::string path = *arguments.value("output");
  for (const std::string& each : result.warnings) print_message("contend: note: {}\n", each);
  if (result.cancelled) {
    print_message("contend: interrupted; nothing is written\n");
    return kExitInterrupted;
  }
  if (result.refused) {
    print_missing(result);
    print_message("contend: nothing was measured; use --partial to measure and write the other layers\n");
    return kExitCapability;
  }
  const bool writable = result.missing.empty() || (arguments.has("partial") && !result.model.layers.empty());
  if (!result.missing.empty()) print_missing(result);
  if (!writable) {
    print_message("contend: nothing is written; use --partial to write the measured layers{}\n",
                  result.model.layers.empty() ? ", of which there are none" : "");
    return kExitCapability;
  }
  TimedModel model = result.model;
  // A study that used this table alone would take it for the whole network.
  if (!result.missing.empty()) {
    const std::size_t layers = model.layers.size() + result.missing.size();
    model.name += fmt::format(" ({} of {} layers)", model.layers.size(), layers);
  }
  write_own_file(path, timed_csv(model));
  if (!arguments.has("quiet")) print_summary(result, path);
  return kExitOk;
}

}  // namespace

int calibrate_model_verb(const Arguments& arguments) {
  const ProgressMode mode = progress_mode(arguments);
  const ModelMeasurementRequest request = model_request_of(arguments);
  const LayerTable table = table_of(arguments);
  const contend_backend* const backend = calibration_backend(arguments);
  if (backend == nullptr) return kExitCapability;
  catch_interrupts();
  ModelMeasurement result;
  try {
    CalibrationLine line{mode};
    ModelMeasurementHooks hooks;
    hooks.clock = monotonic_seconds;
    hooks.progress = [&](const CalibrationProgress& progress) { line.update(progress); };
    hooks.cancelled = interrupted;
    result = measure_model(*backend, table, request, hooks);
  } catch (const DeviceError& error) {
    print_message("contend: device {} of {} can't be measured: {}\n", request.device, backend->name, error.what());
    return kExitCapability;
  }
  return report(arguments, result);
}

}  // namespace contend
