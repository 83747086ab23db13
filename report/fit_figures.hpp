#pragma once
// How well fitted costs of a network meet what was measured.

#include "calibration/network_fit.hpp"
#include "report/figure.hpp"

#include <vector>

namespace contend {

/// Of each exchange: times against sizes with the lines of every region, and below how far each is off; then the same
/// for several at once against their number. For stacked_svg(). Not empty if there is a sample of a size above 0 or
/// contention.
[[nodiscard]] std::vector<FigurePanel> fit_panels(const NetworkCalibration& calibration);

}  // namespace contend
