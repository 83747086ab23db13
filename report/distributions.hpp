#pragma once
// Turns samples into the curves and boxes of figures.

#include "report/figure.hpp"

#include <string>
#include <vector>

namespace contend {

/// The empirical distribution function of the values, as steps. NaN is left out.
[[nodiscard]] FigureSeries cumulative(std::string name, std::vector<double> values);

/// Box and whiskers of at least one value; NaN is left out.
[[nodiscard]] BoxGroup box_of(std::string name, std::vector<double> values);

/// The summed weight of the intervals [from, to) that hold at each time, as steps from 0 to `end`. NaN in `to` marks an
/// interval without end.
[[nodiscard]] FigureSeries occupancy(std::string name, const std::vector<double>& from, const std::vector<double>& to,
                                     const std::vector<double>& weights, double end);

}  // namespace contend
