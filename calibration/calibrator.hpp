#pragma once
// Runs a whole calibration: opens the device, measures the designed shapes one after the other within a time budget,
// watches the device and its other users meanwhile, and returns the profile.

#include "calibration/backend.h"
#include "calibration/design.hpp"
#include "calibration/measure.hpp"
#include "calibration/open_device.hpp"
#include "calibration/profile.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct CalibrationRequest {
  CalibrationMode mode = CalibrationMode::full;
  std::vector<OperatorGroup> groups{};  ///< empty: all
  int device = 0;
  double budget_seconds = 0;  ///< > 0
  /// Visit every operation a second time once all others have been measured, as long as time remains: what differs
  /// between two visits no single one shows.
  bool visit_twice = false;
  std::string name{};             ///< of the profile; if empty, derived from the device's name
  std::string date{}, version{};  ///< see CalibrationProfile
};

/// The state of a running calibration, for a progress line.
struct CalibrationProgress {
  std::string_view op;
  DataType type = DataType::fp32;
  std::size_t done = 0, total = 0;  ///< operations
  double seconds_left = 0;          ///< at the pace so far; at most the rest of the budget
};

/// The functions that a calibration calls while it runs. Only the clock is required.
struct CalibrationHooks {
  WallClock clock{};
  std::function<void(const CalibrationProgress&)> progress{};   ///< called before each operation
  std::function<bool()> cancelled{};                            ///< called before each operation; true ends the
                                                                ///< calibration
  std::function<void(const CalibrationProfile&)> checkpoint{};  ///< called at the start and every few seconds with the
                                                                ///< unfinished profile
};

enum class CalibrationEnd {
  finished,
  cancelled,
  device_lost,  ///< the device failed, and another process could not use it either
  /// An operation broke the device for this process: another one can continue the profile. Only if this one has
  /// measured something; otherwise it would break the same way.
  device_broken,
};

struct CalibrationResult {
  CalibrationProfile profile;
  CalibrationEnd end = CalibrationEnd::finished;
  std::string message;  ///< why the device was lost or broken
};

/// Calibrates a device. `begun` continues a profile of the same device, driver, runtime, version and mode: its
/// measurements are kept, and the measurements that it skipped in the chosen groups are tried again. Throws DeviceError
/// if the device cannot be opened, InputError if `begun` comes from another device, driver, runtime, version or mode.
[[nodiscard]] CalibrationResult calibrate(const contend_backend& backend, const CalibrationRequest& request,
                                          const CalibrationHooks& hooks,
                                          const std::optional<CalibrationProfile>& begun = {});

/// The profile name derived from a device's name: small letters, digits and single dashes.
[[nodiscard]] std::string profile_name(std::string_view device);

}  // namespace contend
