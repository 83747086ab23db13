#pragma once
// The value of `training.NAME.device`: a device that ships by its name, one that a sheet describes, `{sheet:
// gpu.yaml}`, or a calibrated one, `{profile: gpu.yaml}`.

#include "models/devices.hpp"

#include <memory>
#include <optional>
#include <string>

namespace contend {

class CalibratedDevice;

struct DeviceChoice {
  /// A name of find_device() (scenarios/yaml/device_sheet.hpp), or the name of `described`; ignored if there is a
  /// profile.
  std::string name = "V100-SXM2";
  std::optional<std::string> sheet;    ///< path of a sheet
  std::optional<std::string> profile;  ///< path of a calibration profile
  /// The content of the profile, set if and only if there is a path. It is read once and shared by all variants of a
  /// scenario.
  std::shared_ptr<const CalibratedDevice> calibrated;
  std::shared_ptr<const Device> described;  ///< of the sheet, or as the scenario itself describes it; else not set

  [[nodiscard]] static DeviceChoice named(const std::string& name) {
    DeviceChoice choice;
    choice.name = name;
    return choice;
  }
  [[nodiscard]] static DeviceChoice of(const Device& device) {
    DeviceChoice choice = named(device.name);
    choice.described = std::make_shared<const Device>(device);
    return choice;
  }
  /// Compares profiles by their path.
  bool operator==(const DeviceChoice& other) const {
    if (profile || other.profile) return profile == other.profile;
    if (!described || !other.described) return described == other.described && name == other.name;
    return sheet == other.sheet && *described == *other.described;
  }
};

}  // namespace contend
