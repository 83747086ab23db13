#pragma once
// How `overlap.device` is read and printed.

#include "scenarios/keys/device_choice.hpp"
#include "scenarios/yaml/codecs.hpp"

namespace contend {

/// Reads the file of a profile, too, and complains about all that is wrong in it.
[[nodiscard]] Codec<DeviceChoice> device_codec();

}  // namespace contend
