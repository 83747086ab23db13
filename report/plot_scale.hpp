#pragma once
// Maps values to positions on an axis with ticks at round numbers, as page/scale.js does for the page.

#include "report/figure.hpp"

#include <string>
#include <vector>

namespace contend {

struct PlotScale {
  double from = 0, to = 1;  ///< from < to
  bool logarithmic = false;
  std::vector<double> ticks;  ///< within from..to

  /// The position of a value: 0 at `from`, 1 at `to`.
  [[nodiscard]] double at(double value) const;
};

/// A scale for the finite values; a logarithmic axis ignores those that are not positive. A `tight` scale ends at the
/// outermost values plus `room` of the range at both ends; any other ends at round numbers.
[[nodiscard]] PlotScale fit_scale(const FigureAxis& axis, const std::vector<double>& values, bool tight,
                                  double room = 0);

/// A tick in the unit of the axis, shares as per cent, with no more digits than ticks `step` apart need.
[[nodiscard]] std::string tick_text(double value, const std::string& unit, double step);

/// `title [unit]`, with per cent for shares.
[[nodiscard]] std::string axis_text(const FigureAxis& axis);

}  // namespace contend
