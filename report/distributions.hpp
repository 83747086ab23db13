#pragma once
// Samples as the curves and boxes of figures.

#include "report/figure.hpp"

#include <string>
#include <vector>

namespace contend {

/// The share of the values that are at most x, as steps. NaN is left out.
[[nodiscard]] FigureSeries cumulative(std::string name, std::vector<double> values);

/// Box and whiskers of the values; NaN is left out. Needs at least one value.
[[nodiscard]] BoxGroup box_of(std::string name, std::vector<double> values);

/// How many of the intervals [from, to) hold at each time at which that changes; NaN as `to` is an interval without an
/// end. As steps from 0 to `end`.
[[nodiscard]] FigureSeries occupancy(std::string name, const std::vector<double>& from, const std::vector<double>& to,
                                     const std::vector<double>& weights, double end);

}  // namespace contend
