#pragma once
// Formats the results of `contend calibrate network` for people and for programs.

#include "calibration/network_fit.hpp"

#include <string>
#include <vector>

namespace contend {

/// Tables of the regions, of the link and of the contention fits, as far as they exist.
[[nodiscard]] std::string calibration_text(const NetworkCalibration& calibration);
/// The same as JSON: times in ns, times per byte in ns/B; null if the samples do not determine a value.
[[nodiscard]] std::string calibration_json(const NetworkCalibration& calibration);

/// The series in words: `all-reduce among 2, 4; all-gather among 2`.
[[nodiscard]] std::string series_names(const std::vector<const SeriesFit*>& series);

}  // namespace contend
