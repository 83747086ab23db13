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
  /// The unit of the labels, if that is not the one of the axis, and its length in that one. Times are told in minutes,
  /// hours or days where people would, and their ticks are round there.
  std::string unit{};
  double length = 1;

  /// The position of a value: 0 at `from`, 1 at `to`.
  [[nodiscard]] double at(double value) const;
};

/// A scale for the finite values; a logarithmic axis ignores those that are not positive. A `tight` scale ends at the
/// outermost values plus `room` of the range at both ends; any other ends at round numbers.
[[nodiscard]] PlotScale fit_scale(const FigureAxis& axis, const std::vector<double>& values, bool tight,
                                  double room = 0);

/// Ticks at powers of two, named as people write sizes (`32KiB`), for a logarithmic axis over these bytes, all > 0; as
/// many as have room.
void add_size_ticks(FigureAxis& axis, const std::vector<double>& bytes);

/// A tick in the unit of the axis, shares as per cent, with no more digits than ticks `step` apart need.
[[nodiscard]] std::string tick_text(double value, const std::string& unit, double step);

/// The labels of the ticks, or of the categories.
[[nodiscard]] std::vector<std::string> tick_labels(const PlotScale& scale, const FigureAxis& axis);

/// `title [unit]`, the unit being the labels' unit; without one where the labels have it, as shares and times on a
/// logarithmic axis do.
[[nodiscard]] std::string axis_text(const FigureAxis& axis, const PlotScale& scale);

}  // namespace contend
