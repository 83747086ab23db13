#pragma once
// A whole calibration: opens the device, measures the designed shapes one after the other within a budget of time,
// watches what the device and its other users do meanwhile, and gives the profile of what it found.

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
  double budget_seconds = 0;      ///< > 0
  std::string name{};             ///< of the profile; empty: made of the device's
  std::string date{}, version{};  ///< see CalibrationProfile
};

struct CalibrationProgress {
  std::string_view op;
  DataType type = DataType::fp32;
  std::size_t done = 0, total = 0;  ///< operations
  double seconds_left = 0;          ///< at the pace so far, no more than the budget leaves
};

/// What a calibration asks for and tells while it runs. Only the clock is needed.
struct CalibrationHooks {
  WallClock clock{};
  std::function<void(const CalibrationProgress&)> progress{};   ///< before each operation
  std::function<bool()> cancelled{};                            ///< asked before each operation
  std::function<void(const CalibrationProfile&)> checkpoint{};  ///< at the start and every few seconds: unfinished
};

enum class CalibrationEnd {
  finished,
  cancelled,
  device_lost,  ///< it failed and could not be opened again
};

struct CalibrationResult {
  CalibrationProfile profile;
  CalibrationEnd end = CalibrationEnd::finished;
  std::string message;  ///< why the device was lost
};

/// Throws DeviceError. With `begun`, a profile of the same device, programs and mode, goes on: what that has measured
/// is taken over, what it has skipped in the chosen groups is tried again; throws InputError for another device,
/// driver, runtime, version or mode.
[[nodiscard]] CalibrationResult calibrate(const contend_backend& backend, const CalibrationRequest& request,
                                          const CalibrationHooks& hooks,
                                          const std::optional<CalibrationProfile>& begun = {});

/// What a device's name becomes in the name of its profile: small letters, digits and single dashes.
[[nodiscard]] std::string profile_name(std::string_view device);

}  // namespace contend
