#pragma once
// The value of `training.NAME.device`: a device of the built-in table by its name, or a calibrated one, `{profile:
// gpu.yaml}`.

#include <memory>
#include <optional>
#include <string>

namespace contend {

class CalibratedDevice;

struct DeviceChoice {
  std::string name = "V100-SXM2";      ///< a name of models/devices.hpp; ignored if there is a profile
  std::optional<std::string> profile;  ///< path of a calibration profile
  /// The content of the profile, set if and only if there is a path. It is read once and shared by all variants of a
  /// scenario.
  std::shared_ptr<const CalibratedDevice> calibrated;

  /// Compares profiles by their path.
  bool operator==(const DeviceChoice& other) const {
    return profile == other.profile && (profile || name == other.name);
  }
};

}  // namespace contend
