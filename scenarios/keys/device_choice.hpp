#pragma once
// `overlap.device`: a device of the table by its name, or one that was calibrated, as `{profile: gpu.yaml}`.

#include <memory>
#include <optional>
#include <string>

namespace contend {

class CalibratedDevice;

struct DeviceChoice {
  std::string name = "V100-SXM2";      ///< of models/devices.hpp; means nothing beside a profile
  std::optional<std::string> profile;  ///< path of the file
  /// What the file holds; there if and only if there is a path. Read once, however many scenarios vary this one.
  std::shared_ptr<const CalibratedDevice> calibrated;

  /// The file stands for what it holds.
  bool operator==(const DeviceChoice& other) const {
    return profile == other.profile && (profile || name == other.name);
  }
};

}  // namespace contend
