#pragma once
// From values to places on an axis, with ticks at round numbers. page/scale.js does the same for the page.

#include "report/figure.hpp"

#include <string>
#include <vector>

namespace contend {

struct PlotScale {
  double from = 0, to = 1;  ///< from < to
  bool logarithmic = false;
  std::vector<double> ticks;  ///< within from..to

  /// 0 at `from`, 1 at `to`.
  [[nodiscard]] double at(double value) const;
};

/// A scale for the finite values; on a logarithmic axis those that are not positive don't count. `tight`: it ends at
/// the outermost values, but for `room` of the range at both ends; else at round numbers.
[[nodiscard]] PlotScale fit_scale(const FigureAxis& axis, const std::vector<double>& values, bool tight,
                                  double room = 0);

/// A tick in the unit of the axis: shares as per cent; no more digits than ticks `step` apart need.
[[nodiscard]] std::string tick_text(double value, const std::string& unit, double step);

/// `title [unit]`; shares are in per cent.
[[nodiscard]] std::string axis_text(const FigureAxis& axis);

}  // namespace contend
