#pragma once
// Chooses the back end that the `calibrate` verbs measure.

#include "calibration/backend.h"
#include "cli/command.hpp"

#include <cstdint>

namespace contend {

inline constexpr std::uint64_t kMostDevices = 1023, kMostSeconds = 86'400;  ///< upper bounds of options

/// The back end that --backend names. If it is missing, prints what is missing and what to do, and returns nullptr.
/// Throws UsageError.
[[nodiscard]] const contend_backend* calibration_backend(const Arguments& arguments);

}  // namespace contend
