#pragma once
// The layers of a network measured one by one on a device: each different operation once, a layer's time the sum of
// its own.

#include "calibration/backend.h"
#include "calibration/calibrator.hpp"
#include "models/devices.hpp"
#include "models/layers.hpp"

#include <functional>
#include <string>
#include <vector>

namespace contend {

struct ModelMeasurementRequest {
  int batch = 1;
  DataType type = DataType::fp32;
  int device = 0;
  double budget_seconds = 0;  ///< > 0; what isn't measured by then is missing
  bool partial = false;       ///< measure the other layers where the back end lacks operators
  std::string note;           ///< ends the origin of each layer: program, date
};

struct ModelMeasurementHooks {
  WallClock clock{};
  std::function<void(const CalibrationProgress&)> progress{};  ///< before each operation
  std::function<bool()> cancelled{};                           ///< asked before each operation
};

struct ModelMeasurement {
  /// All layers whose operations could be measured, with their basis; the others aren't there.
  TimedModel model;
  std::vector<std::string> missing;   ///< names of those
  std::vector<std::string> reasons;   ///< why, one line an operation
  std::vector<std::string> warnings;  ///< throttling, other users of the device, times that moved
  bool cancelled = false;
  bool refused = false;  ///< nothing was measured: the back end lacks operators, and it wasn't to be `partial`
};

/// Looks first whether the back end has all operators, and measures then. Throws DeviceError if the device can't be
/// opened, InputError for an unsound table.
[[nodiscard]] ModelMeasurement measure_model(const contend_backend& backend, const LayerTable& table,
                                             const ModelMeasurementRequest& request,
                                             const ModelMeasurementHooks& hooks);

}  // namespace contend
