#pragma once
// Which kind of device the verbs `calibrate` measure.

#include "cli/command.hpp"
#include "models/calibration/backend.h"

namespace contend {

/// By --backend. Nothing where there is none: what is missing, and what can be done, has been said. Throws UsageError.
[[nodiscard]] const contend_backend* calibration_backend(const Arguments& arguments);

}  // namespace contend
