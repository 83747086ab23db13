#include "report/sweep_data.hpp"
#include "report/sweep_groups.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace contend {
namespace {

FigureAxis axis_of(const SweepData::Parameter& parameter, const SweepLevels& levels, bool numeric) {
  FigureAxis axis{.title = parameter.key, .unit = parameter.unit, .categories = {}};
  if (numeric) {
    const auto [low, high] = std::ranges::minmax(levels.numbers);
    axis.logarithmic = low > 0 && high / low >= 32;
    if (!parameter.unit.empty()) {  // 10Gbps rather than 1.25e9
      axis.ticks = levels.numbers;
      axis.tick_names = levels.names;
    }
  } else {
    axis.unit.clear();
    axis.categories = levels.names;
  }
  return axis;
}

}  // namespace

std::vector<Figure> sweep_figures(const SweepData& data, const SweepAxes& axes) {
  if (axes.x.empty() || axes.metric.empty()) return {};
  const SweepData::Parameter& x = parameter_of(data, axes.x);
  const SweepData::Metric& metric = metric_of(data, axes.metric);
  const StoreMetric& what = metric.description;
  const SweepLevels x_levels = levels_of(x);
  SweepLevels by_levels{
      .names = {what.title}, .numbers = {NAN}, .of_row = std::vector<std::size_t>(x.values.size(), 0)};
  if (!axes.by.empty()) by_levels = levels_of(parameter_of(data, axes.by));
  const auto groups = grouped(data, metric.values, x_levels, by_levels);
  const bool numeric = x.numeric && std::ranges::none_of(x_levels.numbers, [](double n) { return std::isnan(n); });

  XyPlot lines{.x = axis_of(x, x_levels, numeric),
               .y = {.title = what.title, .unit = what.unit, .from_zero = true, .categories = {}},
               .series = {}};
  HeatMap map;
  map.x = {.title = axes.x, .unit = "", .categories = x_levels.names};
  map.y = {.title = axes.by, .unit = "", .categories = by_levels.names};
  map.value_title = what.title;
  map.value_unit = what.unit;
  map.columns = x_levels.names.size();
  for (std::size_t row = 0; row < groups.size(); ++row) {
    FigureSeries series{
        .name = by_levels.names[row], .mark = SeriesMark::line, .x = {}, .y = {}, .low = {}, .high = {}, .labels = {}};
    for (std::size_t level = 0; level < groups[row].size(); ++level) {
      const Estimate estimated = groups[row][level].figure();
      map.values.push_back(estimated.mean);
      if (std::isnan(estimated.mean)) continue;
      series.x.push_back(numeric ? x_levels.numbers[level] : static_cast<double>(level));
      series.y.push_back(estimated.mean);
      series.low.push_back(estimated.mean - estimated.half_width);
      series.high.push_back(estimated.mean + estimated.half_width);
    }
    lines.series.push_back(std::move(series));
  }
  const std::string by_text = axes.by.empty() ? "" : fmt::format(", a line a value of {}", axes.by);
  std::vector<Figure> figures;
  figures.push_back({.id = "sweep-lines",
                     .title = fmt::format("{} over {}", what.title, axes.x),
                     .caption = fmt::format("{}{}; means over the points with these values and over seeds, bars: "
                                            "95% Student-t intervals over seeds.",
                                            what.text, by_text),
                     .plot = std::move(lines)});
  if (!axes.by.empty())
    figures.push_back({.id = "sweep-map",
                       .title = fmt::format("{} over {} and {}", what.title, axes.x, axes.by),
                       .caption = fmt::format("{}; means over the points with these values and over seeds.", what.text),
                       .plot = std::move(map)});
  return figures;
}

}  // namespace contend
