#pragma once
// A figure as data, independent of how it is drawn. The page draws it interactively (page/chart.js, page/heat.js),
// figure_svg() as a file for a paper; both offer the numbers as CSV.

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
  std::string unit;  ///< `s`, `share` (0..1, drawn as per cent) or any other, drawn as it is; empty: none
  bool logarithmic = false;
  bool from_zero = false;                 ///< the axis includes 0 even if no value is near it
  std::vector<std::string> categories;    ///< names of the positions 0, 1, ..., if any
  std::vector<double> ticks{};            ///< positions of the ticks, if any, instead of round numbers
  std::vector<std::string> tick_names{};  ///< their names, one for each
  // What people read instead of `title` and `categories`, which name the columns and values of the CSV; empty: those.
  std::string shown_title{};
  std::vector<std::string> shown_categories{};  ///< one for each category

  [[nodiscard]] const std::string& drawn_title() const { return shown_title.empty() ? title : shown_title; }
  [[nodiscard]] const std::vector<std::string>& drawn_categories() const {
    return shown_categories.empty() ? categories : shown_categories;
  }
};

/// How the values of a series are drawn: joined by lines, joined by steps (a value holds until the next), as dots, or
/// as bars that start at `XyPlot::base`.
enum class SeriesMark : std::uint8_t { line, step, dots, bars };

struct FigureSeries {
  std::string name;  ///< dots and a line of the same name share a colour and a legend entry
  SeriesMark mark = SeriesMark::line;
  std::vector<double> x, y;         ///< of equal length; NaN in y is a gap
  std::vector<double> low, high;    ///< an interval around each y, or empty
  std::vector<std::string> labels;  ///< a name for each point, or empty
  std::size_t left_out = 0;         ///< points that thin_out() has taken away
  std::string shown_name{};         ///< what the legend has instead of `name`, which the CSV has; empty: that

  [[nodiscard]] const std::string& drawn_name() const { return shown_name.empty() ? name : shown_name; }
};

struct XyPlot {
  FigureAxis x, y;
  std::vector<FigureSeries> series;
  double base = 0;        ///< where bars start
  bool diagonal = false;  ///< draws the line x = y
};

/// One box of a box plot: quartiles with the median, whiskers to the outermost values within 1.5 quartile ranges of the
/// box (Tukey), and the values beyond.
struct BoxGroup {
  std::string name;
  std::size_t count = 0;
  double low = 0, q1 = 0, median = 0, q3 = 0, high = 0;
  double mean = 0;
  std::vector<double> outliers;
  std::size_t left_out = 0;  ///< outliers that box_of() has left out
};
struct BoxPlot {
  std::string group_title;
  FigureAxis y;
  std::vector<BoxGroup> groups;
};

/// A heat map: values in cells; NaN is an empty cell.
struct HeatMap {
  FigureAxis x, y;
  std::string value_title, value_unit;
  double x_from = 0, x_step = 1;  ///< without categories of x, cell i covers x_from + i * x_step and the x_step after
                                  ///< it
  std::size_t columns = 0;
  std::vector<double> values;  ///< row by row; rows are the categories of y, the first one at the top
  double low = 0, high = 0;    ///< values at the ends of the colour scale; if equal, the ends of the data
  /// If not NaN, > 0: colours diverge from this value, evenly in the logarithm of value / middle, with low = middle^2 /
  /// high; a line separates the cells above it from those below.
  double middle = std::numeric_limits<double>::quiet_NaN();
  bool logarithmic = false;  ///< colours are even in the logarithm of the values, which must then be > 0 to have one
};

struct Figure {
  std::string id;  ///< file name without extension, unique on a page
  std::string title;
  std::string caption;  ///< one or two sentences: what is counted, and how
  std::variant<XyPlot, BoxPlot, HeatMap> plot;
};

/// Writes a member that is a list of texts.
void write_texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts);

/// Writes the figure as one JSON object.
void write_figure_json(JsonWriter& json, const Figure& figure);

/// The numbers of a figure as CSV with a header, one row an observation.
[[nodiscard]] std::string figure_csv(const Figure& figure);

/// The figure as SVG for a paper: black on white, sans serif, colours that most colour-blind people can tell apart.
[[nodiscard]] std::string figure_svg(const Figure& figure);

/// An XyPlot with its height in pixels.
struct FigurePanel {
  Figure figure;
  double height = 400;
};
/// Several panels as one SVG, below each other with aligned left ends.
[[nodiscard]] std::string stacked_svg(std::span<const FigurePanel> panels);

}  // namespace contend
