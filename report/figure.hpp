#pragma once
// A figure as data: what it shows, apart from how it is drawn. The page draws it to be pointed at and zoomed
// (page/chart.js, page/heat.js), figure_svg() as a file for a paper, and both give the numbers as CSV.

#include "text/json_writer.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace contend {

struct FigureAxis {
  std::string title;
  std::string unit;  ///< `s`, `share` (0..1, drawn as per cent) or another one, drawn as it is; empty: none
  bool logarithmic = false;
  bool from_zero = false;                 ///< the axis shows 0 even if no value is near
  std::vector<std::string> categories;    ///< if any, positions 0, 1, ... have these names
  std::vector<double> ticks{};            ///< if any, the axis is marked there instead of at round numbers,
  std::vector<std::string> tick_names{};  ///< with these names, as many
};

/// How the values of a series are drawn: joined, joined by steps (a value holds until the next), as dots, or as bars
/// that stand on `XyPlot::base`.
enum class SeriesMark : std::uint8_t { line, step, dots, bars };

struct FigureSeries {
  std::string name;  ///< dots and a line of one name share a colour and a place in the legend of a file
  SeriesMark mark = SeriesMark::line;
  std::vector<double> x, y;         ///< equally many; NaN in y is a gap
  std::vector<double> low, high;    ///< an interval around each y, or empty
  std::vector<std::string> labels;  ///< a name of each point, or empty
};

struct XyPlot {
  FigureAxis x, y;
  std::vector<FigureSeries> series;
  double base = 0;        ///< where bars stand
  bool diagonal = false;  ///< the line x = y
};

/// A box a group: quartiles with the median, whiskers to the outermost values within 1.5 quartile ranges of the box
/// (Tukey), and the values beyond.
struct BoxGroup {
  std::string name;
  std::size_t count = 0;
  double low = 0, q1 = 0, median = 0, q3 = 0, high = 0;
  double mean = 0;
  std::vector<double> outliers;
};
struct BoxPlot {
  std::string group_title;
  FigureAxis y;
  std::vector<BoxGroup> groups;
};

/// Values in cells; NaN is an empty one.
struct HeatMap {
  FigureAxis x, y;
  std::string value_title, value_unit;
  double x_from = 0, x_step = 1;  ///< where the x axis has no categories: cell i covers from + i * step
  std::size_t columns = 0;
  std::vector<double> values;  ///< row by row; rows are the categories of y, the first at the top
  double low = 0, high = 0;    ///< values at the ends of the colour scale; low == high: those of the data
  /// If not NaN, > 0: colours diverge from this value, evenly by the logarithm of value / middle, low = middle^2 /
  /// high, and a line parts the cells above it from those below.
  double middle = std::numeric_limits<double>::quiet_NaN();
};

struct Figure {
  std::string id;  ///< a file name without its ending, unique on a page
  std::string title;
  std::string caption;  ///< a sentence or two: what is counted, and how
  std::variant<XyPlot, BoxPlot, HeatMap> plot;
};

/// Writes the figure as one JSON object.
void write_figure_json(JsonWriter& json, const Figure& figure);

/// Its numbers, one row an observation, with a header.
[[nodiscard]] std::string figure_csv(const Figure& figure);

/// A file for a paper: black on white, sans serif, colours that most colour-blind people tell apart.
[[nodiscard]] std::string figure_svg(const Figure& figure);

/// An XyPlot of this height; the usual one is 400.
struct FigurePanel {
  Figure figure;
  double height = 400;
};
/// The same with panels below each other, their left ends aligned.
[[nodiscard]] std::string stacked_svg(std::span<const FigurePanel> panels);

}  // namespace contend
