#pragma once
// Turns samples into the curves and boxes of figures.

#include "report/figure.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace contend {

/// A curve has no more points than this, and a box no more outliers: a page with a million of either can't be used.
inline constexpr std::size_t kMostPoints = 20'000, kMostOutliers = 2'000;

/// Leaves no more than kMostPoints points of a curve with ascending x: of each of many groups of neighbours the first,
/// the lowest, the highest and the last. No group has many points or is wide, so that the curve looks as before at any
/// size up to thousands of pixels, also where most points are in a small part of it.
void thin_out(FigureSeries& series);
/// Appends to the caption how many points the curves and boxes of a figure lack, if any.
void say_what_is_left_out(Figure& figure);

/// The empirical distribution function of the values, as steps, thinned out. NaN is left out.
[[nodiscard]] FigureSeries cumulative(std::string name, std::vector<double> values);

/// Box and whiskers of at least one value; NaN is left out. Of many outliers it keeps the outermost, and others at
/// equal steps of their ranks.
[[nodiscard]] BoxGroup box_of(std::string name, std::vector<double> values);

/// The summed weight of the intervals [from, to) that hold at each time, as steps from 0 to `end`, thinned
/// out. NaN in `to` marks an interval without end.
[[nodiscard]] FigureSeries occupancy(std::string name, const std::vector<double>& from, const std::vector<double>& to,
                                     const std::vector<double>& weights, double end);

}  // namespace contend
