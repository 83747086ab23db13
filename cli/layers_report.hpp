#pragma once
// Prints the layers of an iteration study and the basis of their times.

#include "models/layers.hpp"
#include "scenarios/scenario.hpp"

#include <string>
#include <vector>

namespace contend {

/// A table of all layers with gradient, times and origin; for calibrated times also the basis of each and of the sum,
/// with the expected error.
[[nodiscard]] std::string layers_text(const TimedModel& model);

/// The same as JSON; times in seconds, gradients in bytes.
[[nodiscard]] std::string layers_json(const TimedModel& model);

/// Warnings for users of the study: layer times beyond the measured range, and a calibration that is incomplete or was
/// disturbed.
[[nodiscard]] std::vector<std::string> calibration_warnings(const IterationStudy& study, const TimedModel& model);

}  // namespace contend
