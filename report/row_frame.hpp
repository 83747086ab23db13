#pragma once
// What drawings of boxes in rows have around their boxes: a title, a legend, and a scale below with a line for each
// tick.

#include "report/plot_scale.hpp"

#include <span>
#include <string>
#include <string_view>

namespace contend {

struct RowFrame {
  double left = 0, right = 0, top = 0, bottom = 0;  ///< of the area of the boxes, in pixels
  PlotScale scale{};

  [[nodiscard]] double x(double value) const { return left + scale.at(value) * (right - left); }
  /// The ticks, and `title` below them.
  [[nodiscard]] std::string axis(std::string_view title) const;
};

struct RowLegend {
  std::string_view colour, name;
  std::string style{};  ///< further attributes of the box, each with a blank in front
};
/// The entries side by side, the first at `left`; their boxes at `y`.
[[nodiscard]] std::string svg_legend(double left, double y, std::span<const RowLegend> entries);

/// A bold title in the first line below `y`.
[[nodiscard]] std::string svg_title(double y, std::string_view title);

}  // namespace contend
