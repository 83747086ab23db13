#pragma once
// What `contend calibrate network` found, for people and for programs.

#include "calibration/network_fit.hpp"

#include <string>
#include <vector>

namespace contend {

/// Tables of regions, of the link and of several at once; those that there are.
[[nodiscard]] std::string calibration_text(const NetworkCalibration& calibration);
/// The same as JSON: times in ns, times per byte in ns/B; null where the samples don't tell.
[[nodiscard]] std::string calibration_json(const NetworkCalibration& calibration);

/// `all-reduce among 2, 4; all-gather among 2`, in the order of the series.
[[nodiscard]] std::string series_names(const std::vector<const SeriesFit*>& series);

}  // namespace contend
