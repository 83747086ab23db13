// Figures as SVG files for papers.

#include "report/colours.hpp"
#include "report/figure.hpp"
#include "report/plot_scale.hpp"
#include "report/sweep_names.hpp"
#include "text/xml.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kWidth = 640;
constexpr double kRight = 16, kBottom = 52, kTop = 34;
constexpr double kLetter = 6.1;         ///< mean width of a letter at the size of the labels
constexpr double kWidestLetters = 1.2;  ///< how much wider a name such as `40Gbps` may be in the font of some machine
constexpr double kLegendRow = 16;
constexpr std::size_t kLongestLabel = 26, kLongestName = 90;  ///< letters

double text_width(std::string_view text) {
  return kLetter * static_cast<double>(text.size());
}

std::string shortened(const std::string& name, std::size_t most) {
  return name.size() <= most ? name : name.substr(0, most - 2) + "..";
}

/// A legend entry, drawn like its series.
struct LegendEntry {
  std::string name;  ///< fits into a row
  std::string_view colour, dash;
  bool line = false;  ///< else dots or an area
  bool dots = false;

  [[nodiscard]] double width() const { return text_width(name) + 34; }
};

/// Distributes entries over rows of at most this width.
std::vector<std::vector<LegendEntry>> legend_rows(const std::vector<LegendEntry>& entries, double width) {
  std::vector<std::vector<LegendEntry>> rows;
  double at = 0;
  for (const LegendEntry& each : entries) {
    if (rows.empty() || at + each.width() > width) {
      rows.emplace_back();
      at = 0;
    }
    rows.back().push_back(each);
    at += each.width();
  }
  return rows;
}

/// The frame of one figure; figures below each other share their left end.
struct Frame {
  double height = 400;  ///< with one row of names; each further one adds to it
  double least_left = 0;
  double y = 0;  ///< where it begins in a picture of several
};

/// A sheet with the plot area, axes, title and legend of a figure.
class Sheet {
 public:
  Sheet(const Figure& figure, const Frame& frame, PlotScale x, PlotScale y, const FigureAxis& x_axis,
        const FigureAxis& y_axis, const std::vector<LegendEntry>& names = {})
      : x_{std::move(x)}, y_{std::move(y)}, height_{frame.height} {
    const std::vector<std::vector<LegendEntry>> rows = legend_rows(names, right() - kLeast);
    if (rows.size() > 1) lower_by_ = kLegendRow * static_cast<double>(rows.size() - 1);
    const std::vector<std::string> labels = tick_labels(y_, y_axis);
    double widest = 20;
    for (const std::string& label : labels) widest = std::max(widest, text_width(label));
    left_ = std::max(frame.least_left, std::min(200.0, widest + 40));
    slope_names(x_axis);
    height_ += lower_by_ + sloped_;
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\"{3} "
        "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#24292f\">\n<title>{2}</title>\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
        kWidth, height_, xml_text(figure.title), frame.y > 0 ? fmt::format(" y=\"{}\"", frame.y) : "");
    text(12, 20, "start", figure.title, " font-size=\"14\" font-weight=\"bold\"");
    draw_y_axis(y_axis, labels);
    draw_x_axis(x_axis);
    draw_legend(rows);
  }

  [[nodiscard]] double x(double value) const { return left_ + x_.at(value) * (kWidth - kRight - left_); }
  [[nodiscard]] double y(double value) const { return bottom() - y_.at(value) * (bottom() - top()); }
  [[nodiscard]] double left() const { return left_; }
  [[nodiscard]] static double right() { return kWidth - kRight; }
  [[nodiscard]] double top() const { return kTop + 14 + lower_by_; }
  [[nodiscard]] double bottom() const { return height_ - kBottom - sloped_; }
  [[nodiscard]] double height() const { return height_; }

  void raw(const std::string& shapes) { out_ += shapes; }
  void line(double x1, double y1, double x2, double y2, std::string_view style) {
    out_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2, style);
  }
  void box(double x1, double y1, double x2, double y2, std::string_view style) {
    out_ += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" {}/>\n", std::min(x1, x2),
                        std::min(y1, y2), std::abs(x2 - x1), std::abs(y2 - y1), style);
  }
  void text(double x, double y, std::string_view anchor, std::string_view words, std::string_view style = "") {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, style,
                        xml_text(words));
  }
  std::string finish() { return std::move(out_) + "</svg>\n"; }

 private:
  static constexpr double kSine = 0.574, kCosine = 0.819;  ///< of 35 degrees
  static constexpr double kBetweenLabels = 8;
  static constexpr double kLeast = 12;  ///< where rows of names begin at the earliest, as the title does

  /// Draws the legend in right-aligned rows below the title.
  void draw_legend(const std::vector<std::vector<LegendEntry>>& rows) {
    double y = kTop - 4;
    for (const std::vector<LegendEntry>& row : rows) {
      double width = 0;
      for (const LegendEntry& each : row) width += each.width();
      double at = rows.size() > 1 ? kLeast : std::max(kLeast, right() - width);
      for (const LegendEntry& each : row) {
        if (each.line)
          line(at, y + 4, at + 14, y + 4, fmt::format("stroke=\"{}\" stroke-width=\"2.4\"{}", each.colour, each.dash));
        else if (each.dots)
          raw(fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\" fill=\"{}\"/>\n", at + 7, y + 4, each.colour));
        else
          box(at, y, at + 14, y + 8, fmt::format("fill=\"{}\"", each.colour));
        text(at + 19, y + 9, "start", each.name);
        at += each.width();
      }
      y += kLegendRow;
    }
  }
  void draw_y_axis(const FigureAxis& axis, const std::vector<std::string>& labels) {
    const bool named = !axis.categories.empty();
    const std::size_t every = named ? 1 + labels.size() / 24 : 1;
    for (std::size_t i = 0; i < labels.size(); i += every) {
      const double at = y(named ? static_cast<double>(i) : y_.ticks[i]);
      if (!named) line(left_, at, right(), at, "stroke=\"#e3e6ea\"");
      text(left_ - 6, at + 4, "end", shortened(labels[i], kLongestLabel));
    }
    out_ += fmt::format("<text transform=\"translate(14 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                        (top() + bottom()) / 2, xml_text(axis_text(axis, y_)));
  }
  /// Has names stand at an angle where they don't fit side by side, as long as there is room for one below each other:
  /// values can be left out, and names can't.
  void slope_names(const FigureAxis& axis) {
    constexpr double kRow = 14;
    const double slot = (right() - left_) / static_cast<double>(std::max<std::size_t>(axis.categories.size(), 1));
    double widest = 0, free_from = -INFINITY, middle = slot / 2;
    bool fits = true, are_values = true;
    for (const std::string& name : axis.categories) {
      const double width = kWidestLetters * text_width(shortened(name, kLongestLabel));
      widest = std::max(widest, width);
      fits = fits && middle - width / 2 >= free_from;
      free_from = middle + width / 2 + kBetweenLabels;
      are_values = are_values && !name.empty() && name[0] >= '0' && name[0] <= '9';
      middle += slot;
    }
    if (!fits && !are_values && slot >= kRow) sloped_ = kSine * widest;
  }
  void draw_x_axis(const FigureAxis& axis) {
    line(left_, bottom(), right(), bottom(), "stroke=\"#57606a\"");
    const std::vector<std::string> labels = tick_labels(x_, axis);
    const bool named = !axis.categories.empty();
    double free_from = -INFINITY;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const double at = x(named ? static_cast<double>(i) : x_.ticks[i]);
      const std::string label = shortened(labels[i], kLongestLabel);
      const double half = kWidestLetters * text_width(label) / 2;
      line(at, bottom(), at, bottom() + 4, "stroke=\"#57606a\"");
      if (sloped_ > 0) {
        const std::string turned = fmt::format(" transform=\"rotate(-35 {:.1f} {:.1f})\"", at + 4, bottom() + 14);
        const auto room = static_cast<std::size_t>(at / (kCosine * kWidestLetters * kLetter));
        text(at + 4, bottom() + 14, "end", shortened(label, room), turned);
        continue;
      }
      if (at - half < free_from) continue;
      text(at, bottom() + 18, "middle", label);
      free_from = at + half + kBetweenLabels;
    }
    text((left_ + right()) / 2, height_ - 12, "middle", axis_text(axis, x_));
  }

  PlotScale x_, y_;
  double height_;
  double lower_by_ = 0;  ///< for rows of names beyond the first
  double sloped_ = 0;    ///< for names that stand at an angle
  double left_ = 60;
  std::string out_;
};

PlotScale category_scale(std::size_t count) {
  PlotScale scale{.from = -0.5, .to = static_cast<double>(count) - 0.5, .logarithmic = false, .ticks = {}};
  for (std::size_t i = 0; i < count; ++i) scale.ticks.push_back(static_cast<double>(i));
  return scale;
}

class XySheet {
 public:
  XySheet(const Figure& figure, const Frame& frame, const XyPlot& plot)
      : plot_{plot},
        styles_{styles_of(plot)},
        sheet_{figure,
               frame,
               scale_of(plot, plot.x, true),
               scale_of(plot, plot.y, false),
               plot.x,
               plot.y,
               styles_.names.size() > 1 ? styles_.names : kNoNames} {}

  [[nodiscard]] double left() const { return sheet_.left(); }
  [[nodiscard]] double height() const { return sheet_.height(); }

  std::string draw() {
    if (plot_.diagonal) draw_diagonal();
    for (std::size_t i = 0; i < plot_.series.size(); ++i) {
      const LegendEntry& style = styles_.names[styles_.of_series[i]];
      draw_series(plot_.series[i], style.colour, style.dash);
    }
    return sheet_.finish();
  }

 private:
  static constexpr std::string_view kDashes[] = {"", " stroke-dasharray=\"6 3\"", " stroke-dasharray=\"2 2\""};
  static inline const std::vector<LegendEntry> kNoNames;

  struct Styles {
    std::vector<LegendEntry> names;
    std::vector<std::size_t> of_series;
  };
  /// Dots and a line of one name share a style.
  static Styles styles_of(const XyPlot& plot) {
    Styles styles;
    std::vector<SeriesMark> marks;  // of the names
    for (const FigureSeries& series : plot.series) {
      std::size_t i = 0;
      const std::string name = shortened(series.drawn_name(), kLongestName);
      while (i < marks.size() && (styles.names[i].name != name || marks[i] == series.mark)) ++i;
      const bool line = series.mark == SeriesMark::line || series.mark == SeriesMark::step;
      if (i == marks.size()) {
        styles.names.push_back(
            {name, series_colour(i), kDashes[i / kSeriesColours.size() % std::size(kDashes)], false, false});
        marks.push_back(series.mark);
      }
      styles.names[i].line = styles.names[i].line || line;
      styles.names[i].dots = styles.names[i].dots || series.mark == SeriesMark::dots;
      styles.of_series.push_back(i);
    }
    return styles;
  }

  static PlotScale scale_of(const XyPlot& plot, const FigureAxis& axis, bool horizontal) {
    if (!axis.categories.empty()) return category_scale(axis.categories.size());
    constexpr double kRoom = 0.03;  // for the outermost points to be whole
    std::vector<double> values, lows;
    bool bars = false, points = false;
    for (const FigureSeries& series : plot.series) {
      const auto& own = horizontal ? series.x : series.y;
      values.insert(values.end(), own.begin(), own.end());
      bars = bars || series.mark == SeriesMark::bars;
      points = points || series.mark == SeriesMark::dots || series.mark == SeriesMark::line;
      if (horizontal && !plot.diagonal) continue;
      const auto& other = plot.diagonal ? (horizontal ? series.y : series.x) : series.low;
      lows.insert(lows.end(), other.begin(), other.end());
      if (!horizontal) values.insert(values.end(), series.high.begin(), series.high.end());
    }
    // Where no value is negative, an interval does not make the axis so.
    const bool positive = std::ranges::none_of(values, [](double value) { return value < 0; });
    for (const double low : lows) values.push_back(positive && !plot.diagonal ? std::max(low, 0.0) : low);
    if (bars && !horizontal) values.push_back(plot.base);
    if (bars && horizontal && !values.empty()) {
      const auto [first, last] = std::ranges::minmax(values);
      values.insert(values.end(), {first - 0.5, last + 0.5});
    }
    return fit_scale(axis, values, horizontal || plot.diagonal, points ? kRoom : 0);
  }
  void draw_diagonal() {
    sheet_.line(sheet_.left(), sheet_.bottom(), sheet_.right(), sheet_.top(),
                "stroke=\"#7d8590\" stroke-dasharray=\"4 3\"");
  }
  [[nodiscard]] bool drawable(double x, double y) const {
    return std::isfinite(x) && std::isfinite(y) && (!plot_.x.logarithmic || x > 0) && (!plot_.y.logarithmic || y > 0);
  }
  void draw_series(const FigureSeries& series, std::string_view colour, std::string_view dash) {
    if (series.mark == SeriesMark::bars) return draw_bars(series, colour);
    if (series.mark != SeriesMark::dots) draw_path(series, colour, dash);
    if (series.mark == SeriesMark::step) return;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!drawable(series.x[i], series.y[i])) continue;
      const double x = sheet_.x(series.x[i]);
      if (!series.low.empty() && std::isfinite(series.low[i]) && std::isfinite(series.high[i]))
        sheet_.line(x, std::min(sheet_.y(series.low[i]), sheet_.bottom()), x, sheet_.y(series.high[i]),
                    fmt::format("stroke=\"{}\"", colour));
      if (series.mark == SeriesMark::dots || series.x.size() <= 40)
        sheet_.raw(fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\" fill=\"{}\"/>\n", x,
                               sheet_.y(series.y[i]), colour));
    }
  }
  void draw_path(const FigureSeries& series, std::string_view colour, std::string_view dash) {
    std::string path;
    bool pen_down = false;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!drawable(series.x[i], series.y[i])) {
        pen_down = false;
        continue;
      }
      const double x = sheet_.x(series.x[i]), y = sheet_.y(series.y[i]);
      if (pen_down && series.mark == SeriesMark::step)
        path += fmt::format("H{:.1f}V{:.1f}", x, y);
      else
        path += fmt::format("{}{:.1f} {:.1f}", pen_down ? 'L' : 'M', x, y);
      pen_down = true;
    }
    sheet_.raw(
        fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" stroke-linejoin=\"round\"{}/>\n",
                    path, colour, dash));
  }
  void draw_bars(const FigureSeries& series, std::string_view colour) {
    const double slot = (Sheet::right() - sheet_.left()) / std::max(1.0, static_cast<double>(series.x.size()));
    const double half = std::clamp(slot * 0.4, 0.3, 24.0);
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!drawable(series.x[i], series.y[i])) continue;
      const double x = sheet_.x(series.x[i]);
      sheet_.box(x - half, sheet_.y(series.y[i]), x + half, sheet_.y(plot_.base), fmt::format("fill=\"{}\"", colour));
    }
    sheet_.line(sheet_.left(), sheet_.y(plot_.base), Sheet::right(), sheet_.y(plot_.base), "stroke=\"#57606a\"");
  }

  const XyPlot& plot_;
  Styles styles_;
  Sheet sheet_;
};

std::string draw_boxes(const Figure& figure, const Frame& frame, const BoxPlot& plot) {
  std::vector<double> values;
  FigureAxis x{.title = plot.group_title, .unit = "", .categories = {}};
  for (const BoxGroup& box : plot.groups) {
    values.insert(values.end(), {box.low, box.high});
    values.insert(values.end(), box.outliers.begin(), box.outliers.end());
    x.categories.push_back(fmt::format("{} (n={})", box.name, box.count));
  }
  Sheet sheet{figure, frame, category_scale(plot.groups.size()), fit_scale(plot.y, values, false), x, plot.y};
  const double half = std::min(36.0, (Sheet::right() - sheet.left()) / static_cast<double>(plot.groups.size()) * 0.3);
  for (std::size_t i = 0; i < plot.groups.size(); ++i) {
    const BoxGroup& box = plot.groups[i];
    const double at = sheet.x(static_cast<double>(i));
    const auto y = [&](double value) { return plot.y.logarithmic && value <= 0 ? sheet.bottom() : sheet.y(value); };
    sheet.line(at, y(box.low), at, y(box.q1), "stroke=\"#24292f\"");
    sheet.line(at, y(box.q3), at, y(box.high), "stroke=\"#24292f\"");
    sheet.box(at - half, y(box.q1), at + half, y(box.q3), "fill=\"#b9d6ea\" stroke=\"#24292f\"");
    sheet.line(at - half, y(box.median), at + half, y(box.median), "stroke=\"#24292f\" stroke-width=\"2\"");
    for (const double value : box.outliers)
      sheet.raw(fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\" fill=\"none\" stroke=\"#24292f\"/>\n", at,
                            y(value)));
  }
  return sheet.finish();
}

/// Maps the cells of a heat map to positions on its sheet.
class HeatSheet {
 public:
  HeatSheet(const Figure& figure, const HeatMap& plot)
      : plot_{plot}, sheet_{figure, {}, x_scale(plot), y_scale(plot), plot.x, plot.y} {}

  std::string draw() {
    for (std::size_t i = 0; i < plot_.values.size(); ++i) {
      const bool missing = std::isnan(plot_.values[i]);
      // On a map of two sides white means the middle, so what is missing is grey.
      if (plot_.logarithmic && plot_.values[i] <= 0) continue;
      if (missing && std::isnan(plot_.middle)) continue;
      const std::size_t column = i % plot_.columns, row = i / plot_.columns;
      sheet_.box(left(column), top(row), left(column + 1) + 0.2, top(row + 1) + 0.2,
                 fmt::format("fill=\"{}\"", missing ? "#c8cdd2" : cell_colour(plot_, plot_.values[i])));
    }
    if (!std::isnan(plot_.middle)) draw_parting();
    draw_legend();
    return sheet_.finish();
  }

 private:
  static PlotScale x_scale(const HeatMap& plot) {
    if (!plot.x.categories.empty()) return category_scale(plot.columns);
    const double end = plot.x_from + static_cast<double>(plot.columns) * plot.x_step;
    return fit_scale(plot.x, {plot.x_from, end}, true);
  }
  static PlotScale y_scale(const HeatMap& plot) {
    PlotScale y = category_scale(plot.y.categories.size());
    std::swap(y.from, y.to);  // the first row at the top
    return y;
  }
  [[nodiscard]] std::size_t rows() const { return plot_.y.categories.size(); }
  [[nodiscard]] double left(std::size_t column) const {
    const auto at = static_cast<double>(column);
    return sheet_.x(plot_.x.categories.empty() ? plot_.x_from + at * plot_.x_step : at - 0.5);
  }
  [[nodiscard]] double top(std::size_t row) const {
    return sheet_.top() + static_cast<double>(row) * (sheet_.bottom() - sheet_.top()) / static_cast<double>(rows());
  }

  /// True if exactly one of the cells is above the middle; empty cells are on neither side.
  [[nodiscard]] bool parted(std::size_t one, std::size_t other) const {
    const double a = plot_.values[one], b = plot_.values[other];
    return !std::isnan(a) && !std::isnan(b) && (a > plot_.middle) != (b > plot_.middle);
  }
  void draw_parting() {
    constexpr std::string_view kStyle = "stroke=\"#24292f\" stroke-width=\"1.6\" stroke-linecap=\"square\"";
    for (std::size_t row = 0; row < rows(); ++row) {
      for (std::size_t column = 0; column < plot_.columns; ++column) {
        const std::size_t i = row * plot_.columns + column;
        if (column + 1 < plot_.columns && parted(i, i + 1))
          sheet_.line(left(column + 1), top(row), left(column + 1), top(row + 1), kStyle);
        if (row + 1 < rows() && parted(i, i + plot_.columns))
          sheet_.line(left(column), top(row + 1), left(column + 1), top(row + 1), kStyle);
      }
    }
  }

  void draw_legend() {
    constexpr int kShades = 40;
    const auto [low, high] = heat_range(plot_);
    const bool diverging = !std::isnan(plot_.middle);
    for (int i = 0; i < kShades; ++i) {
      const double part = i / (kShades - 1.0);
      const double value =
          diverging || plot_.logarithmic ? low * std::pow(high / low, part) : low + part * (high - low);
      sheet_.box(Sheet::right() - 160 + i * 3, sheet_.top() - 18, Sheet::right() - 157 + i * 3, sheet_.top() - 10,
                 fmt::format("fill=\"{}\"", cell_colour(plot_, value)));
    }
    const double step = (high - low) / 10;
    const auto label = [&](double value, double apart) {
      if (plot_.value_unit == "s") return time_text(value);
      return tick_text(value, plot_.value_unit, apart > 0 ? apart : 1);
    };
    const bool ratios = diverging || plot_.logarithmic;  // the digits of an end depend on that end alone
    bool below = false, above = false;
    for (const double value : plot_.values) {
      below = below || value < low;
      above = above || value > high;
    }
    const char* const under = below ? "≤ " : "";
    const char* const over = above ? "≥ " : "";
    sheet_.text(Sheet::right() - 166, sheet_.top() - 9, "end",
                fmt::format("{}  {}{}", plot_.value_title, under, label(low, ratios ? low / 100 : step)));
    sheet_.text(Sheet::right() - 34, sheet_.top() - 9, "start",
                fmt::format("{}{}", over,
                            label(high, !ratios                    ? step
                                        : high == std::floor(high) ? 1
                                                                   : high / 100)));
  }

  const HeatMap& plot_;
  Sheet sheet_;
};

}  // namespace

std::string figure_svg(const Figure& figure) {
  if (const auto* boxes = std::get_if<BoxPlot>(&figure.plot)) return draw_boxes(figure, {}, *boxes);
  if (const auto* heat = std::get_if<HeatMap>(&figure.plot)) return HeatSheet{figure, *heat}.draw();
  return XySheet{figure, {}, std::get<XyPlot>(figure.plot)}.draw();
}

std::string stacked_svg(std::span<const FigurePanel> panels) {
  Frame frame;
  for (const FigurePanel& panel : panels)
    frame.least_left =
        std::max(frame.least_left, XySheet{panel.figure, {}, std::get<XyPlot>(panel.figure.plot)}.left());
  std::string drawn;
  for (const FigurePanel& panel : panels) {
    frame.height = panel.height;
    XySheet sheet{panel.figure, frame, std::get<XyPlot>(panel.figure.plot)};
    drawn += sheet.draw();
    frame.y += sheet.height();
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n",
             kWidth, frame.y) +
         drawn + "</svg>\n";
}

}  // namespace contend
