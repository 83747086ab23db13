#pragma once
// Which kind of device the verbs `calibrate` measure.

#include "calibration/backend.h"
#include "cli/command.hpp"

#include <cstdint>

namespace contend {

inline constexpr std::uint64_t kMostDevices = 1023, kMostSeconds = 86'400;  ///< of options

/// By --backend. Nothing where there is none: what is missing, and what can be done, has been said. Throws UsageError.
[[nodiscard]] const contend_backend* calibration_backend(const Arguments& arguments);

}  // namespace contend
