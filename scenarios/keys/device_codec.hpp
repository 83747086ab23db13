#pragma once
// Reads and prints `training.NAME.device`.

#include "scenarios/spec/device_choice.hpp"
#include "scenarios/yaml/codecs.hpp"

namespace contend {

/// The codec also reads the profile file and reports all its faults.
[[nodiscard]] Codec<DeviceChoice> device_codec();

}  // namespace contend
