#pragma once
// Figures that compare fitted network costs with the measurements.

#include "calibration/network_fit.hpp"
#include "report/figure.hpp"

#include <vector>

namespace contend {

/// For each exchange, a panel of times against sizes with the line of every region, and below it the deviation of each
/// time; then the same for concurrent exchanges against their number. For stacked_svg(). Not empty if there is a sample
/// of a size above 0 or a contention fit.
[[nodiscard]] std::vector<FigurePanel> fit_panels(const NetworkCalibration& calibration);

}  // namespace contend
