#pragma once
// Measures the layers of a network on a device: each distinct operation once; a layer's time is the sum of its
// operations.

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
  double budget_seconds = 0;  ///< > 0; operations not measured by then are missing
  bool partial = false;       ///< true: measure the other layers even if the back end lacks some operators
  std::string note;           ///< ends the origin text of each layer: program, date
};

struct ModelMeasurementHooks {
  WallClock clock{};
  std::function<void(const CalibrationProgress&)> progress{};  ///< called before each operation
  std::function<bool()> cancelled{};                           ///< called before each operation; true ends the
                                                               ///< measurement
};

struct ModelMeasurement {
  /// The layers whose operations could all be measured, with their basis; the other layers are left out.
  TimedModel model;
  std::vector<std::string> missing;   ///< names of the layers left out
  std::vector<std::string> reasons;   ///< why, one line for each operation
  std::vector<std::string> warnings;  ///< throttling, other users of the device, times with a trend
  bool cancelled = false;
  bool refused = false;  ///< nothing was measured, because the back end lacks operators and `partial` was not set
};

/// Checks first that the back end has all operators, then measures. Throws DeviceError if the device cannot be opened,
/// InputError for an unsound layer table.
[[nodiscard]] ModelMeasurement measure_model(const contend_backend& backend, const LayerTable& table,
                                             const ModelMeasurementRequest& request,
                                             const ModelMeasurementHooks& hooks);

}  // namespace contend
