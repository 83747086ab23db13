#include "report/sweep_data.hpp"
#include "report/sweep_groups.hpp"
#include "report/sweep_names.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace contend {
namespace {

/// Ratio from which on an axis or a colour scale is logarithmic.
constexpr double kLogRange = 32;
/// Levels of x from which on points that differ in more than x are dots.
constexpr std::size_t kMostJoined = 32;
/// Cells from which on there is no map.
constexpr std::size_t kMostCells = 40000;

FigureAxis axis_of(const SweepData::Parameter& parameter, const SweepLevels& levels, bool numeric) {
  if (!numeric) return level_axis(parameter, levels);
  FigureAxis axis{.title = parameter.key, .unit = parameter.unit, .categories = {}, .shown_title = parameter.title};
  const auto [low, high] = std::ranges::minmax(levels.numbers);
  axis.logarithmic = low > 0 && high / low >= kLogRange;
  if (!parameter.unit.empty()) {  // 10Gbps rather than 1.25e9
    axis.ticks = levels.numbers;
    axis.tick_names = levels.names;
  }
  return axis;
}

/// A value with its interval; NaN if there is none.
struct Interval {
  double value, low, high;
};

/// One metric, or its ratio to the baseline, over the two parameters of the axes.
class SweepPicture {
 public:
  SweepPicture(const SweepData& data, const SweepAxes& axes)
      : data_{data}, axes_{axes}, x_{parameter_of(data, axes.x)}, x_levels_{levels_of(x_)} {
    const std::string title = metric_of(data, axes.metric).description.title;
    by_levels_ = {.names = {title}, .titles = {title}, .numbers = {NAN}, .of_row = {}};
    by_levels_.of_row.resize(x_.values.size());
    if (!axes.by.empty()) by_levels_ = levels_of(parameter_of(data, axes.by));
    numeric_ = x_.numeric && std::ranges::none_of(x_levels_.numbers, [](double n) { return std::isnan(n); });
    rows_ = held_rows(data, axes);
    find_others();
    columns_ = apart_ ? point_levels() : x_levels_;
  }

  /// `estimate` gives the interval of a group of `values`.
  template <class Estimator>
  void fill(const std::vector<double>& values, const Estimator& estimate) {
    const auto groups = grouped(data_, values, columns_, by_levels_, rows_);
    lines_ = {.x = axis_of(x_, x_levels_, numeric_), .y = {}, .series = {}};
    map_ = {};
    map_.x = level_axis(x_, x_levels_);
    if (!axes_.by.empty()) map_.y = level_axis(parameter_of(data_, axes_.by), by_levels_);
    map_.columns = x_levels_.names.size();
    const bool dots = apart_ || (!also_.empty() && numeric_ && x_levels_.names.size() > kMostJoined);
    intervals_ = false;
    for (std::size_t row = 0; row < groups.size(); ++row) {
      FigureSeries series{.name = by_levels_.names[row],
                          .mark = dots ? SeriesMark::dots : SeriesMark::line,
                          .x = {},
                          .y = {},
                          .low = {},
                          .high = {},
                          .labels = {},
                          .shown_name = by_levels_.titles[row]};
      for (std::size_t column = 0; column < groups[row].size(); ++column) {
        const Interval estimated = estimate(groups[row][column]);
        const std::size_t level = apart_ ? level_of_point_[column] : column;
        map_.values.push_back(estimated.value);
        if (std::isnan(estimated.value)) continue;
        series.x.push_back(numeric_ ? x_levels_.numbers[level] : static_cast<double>(level));
        series.y.push_back(estimated.value);
        series.low.push_back(estimated.low);
        series.high.push_back(estimated.high);
        intervals_ = intervals_ || !std::isnan(estimated.low);
      }
      if (!series.x.empty() || axes_.by.empty()) lines_.series.push_back(std::move(series));
    }
  }

  /// The figures of what fill() has found: lines and, over two parameters, a map.
  void draw(std::vector<Figure>& figures, const std::string& name, const std::string& title, const std::string& text,
            const FigureAxis& y) {
    const std::string over = capitalised(title) + (axes_.by.empty() ? " over " : " by ");
    const std::string held = held_text(data_, axes_);
    std::string caption = capitalised(text) + ".";
    if (!also_.empty())
      caption += fmt::format(" {} differ in {}, too.", apart_ ? "Each dot is a point; they" : "Points",
                             fmt::join(also_, " and "));
    caption += averaged_text(data_, axes_);
    lines_.y = y;
    map_.value_title = y.drawn_title();
    map_.value_unit = y.unit;
    const std::string bars = intervals_ ? " Bars: 95% Student-t intervals over seeds." : "";
    if (!intervals_)
      for (FigureSeries& series : lines_.series) series.low = series.high = {};
    figures.push_back({.id = "sweep-" + name + "lines",
                       .title = fmt::format("{}{}{}", over, x_and_by(), held),
                       .caption = caption + bars,
                       .plot = lines_});
    if (axes_.by.empty() || apart_ || map_.values.size() > kMostCells) return;
    figures.push_back({.id = "sweep-" + name + "map",
                       .title = fmt::format("{}{}{}", over, x_and_by(), held),
                       .caption = caption,
                       .plot = map_});
  }

  /// Colours by the logarithm where values range widely, or to both sides of a middle.
  void colour(double middle) {
    double low = INFINITY, high = 0;
    for (const double value : map_.values) {
      if (std::isnan(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (std::isnan(middle)) {
      map_.logarithmic = low > 0 && high / low >= kLogRange;
      return;
    }
    constexpr double kPalest = 1.02, kStrongest = 16;  // less than 2% off is pale; more than 16 times looks the same
    map_.middle = middle;
    map_.high = std::clamp(std::max(high / middle, middle / low), kPalest, kStrongest) * middle;
    map_.low = middle * middle / map_.high;
  }

 private:
  [[nodiscard]] std::string x_and_by() const {
    return axes_.by.empty() ? x_.title : fmt::format("{} and {}", x_.title, parameter_of(data_, axes_.by).title);
  }
  /// Finds the parameters that vary along a line, though they are neither drawn nor averaged, and whether points that
  /// differ in them fall together.
  void find_others() {
    for (const SweepData::Parameter& each : data_.parameters) {
      if (each.key == axes_.x || each.key == axes_.by) continue;
      if (std::ranges::find(axes_.averaged, each.key) != axes_.averaged.end()) continue;
      const SweepLevels levels = levels_of(each);
      if (is_mixed(levels, {&by_levels_}, rows_)) also_.push_back(each.title);
      apart_ = apart_ || is_mixed(levels, {&x_levels_, &by_levels_}, rows_);
    }
  }
  /// Points as if they were the levels of a parameter, in the order of the rows.
  SweepLevels point_levels() {
    SweepLevels points;
    std::map<std::int64_t, std::size_t> number;
    for (std::size_t row = 0; row < data_.points.size(); ++row) {
      const auto [at, is_new] = number.emplace(data_.points[row], number.size());
      if (is_new) {
        points.names.emplace_back();
        level_of_point_.push_back(x_levels_.of_row[row]);
      }
      points.of_row.push_back(at->second);
    }
    return points;
  }

  const SweepData& data_;
  const SweepAxes& axes_;
  const SweepData::Parameter& x_;
  SweepLevels x_levels_, by_levels_;
  SweepLevels columns_;                      ///< x_levels_, or points
  std::vector<std::size_t> level_of_point_;  ///< of x
  bool numeric_ = false, intervals_ = false, apart_ = false;
  std::vector<bool> rows_;
  std::vector<std::string> also_;
  XyPlot lines_;
  HeatMap map_;
};

}  // namespace

std::vector<Figure> sweep_figures(const SweepData& data, const SweepAxes& axes) {
  if (axes.x.empty() || axes.metric.empty()) return {};
  const SweepData::Metric& metric = metric_of(data, axes.metric);
  const StoreMetric& what = metric.description;
  std::vector<Figure> figures;
  SweepPicture picture{data, axes};
  // Student's t knows no bounds, and shares end at 0 and 1.
  const bool is_share = what.unit == "share";
  picture.fill(metric.values, [is_share](const SweepGroup& group) {
    const Estimate each = group.figure();
    Interval drawn{each.mean, each.mean - each.half_width, each.mean + each.half_width};
    if (is_share && drawn.low < 0) drawn.low = std::min(0.0, each.mean);
    if (is_share && drawn.high > 1) drawn.high = std::max(1.0, each.mean);
    return drawn;
  });
  picture.colour(NAN);
  picture.draw(figures, "", what.title, what.text,
               {.title = what.title, .unit = what.unit, .from_zero = true, .categories = {}});
  if (data.baselines.empty()) return figures;
  picture.fill(log_ratios(data, metric.values), [](const SweepGroup& group) {
    const RatioEstimate each = group.ratio();
    return Interval{each.ratio, each.low, each.high};
  });
  picture.colour(1);
  picture.draw(figures, "ratio-", fmt::format("{} relative to {}", what.title, data.baseline_text),
               fmt::format("{}, over that with {} and all else equal, under the same seeds (geometric mean)", what.text,
                           data.baseline_text),
               {.title = what.title + " / baseline", .unit = "", .logarithmic = true, .categories = {}});
  return figures;
}

}  // namespace contend
