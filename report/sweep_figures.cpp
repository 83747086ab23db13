#include "report/sweep_data.hpp"
#include "sim/check.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace contend {
namespace {

/// The different values of a parameter: numbers in numeric order, then texts in theirs.
struct Levels {
  std::vector<std::string> names;
  std::vector<double> numbers;
  std::vector<std::size_t> of_run;  ///< by run
};

Levels levels_of(const SweepData::Parameter& parameter) {
  const auto key = [&](std::size_t run) {
    const double number = parameter.numbers[run];
    return std::tuple{std::isnan(number), std::isnan(number) ? 0.0 : number, parameter.values[run]};
  };
  std::map<std::tuple<bool, double, std::string>, std::size_t> order;
  for (std::size_t run = 0; run < parameter.values.size(); ++run) order[key(run)] = 0;
  Levels levels;
  for (auto& [level, index] : order) {
    index = levels.names.size();
    levels.names.push_back(std::get<2>(level).empty() ? "(none)" : std::get<2>(level));
    levels.numbers.push_back(std::get<0>(level) ? NAN : std::get<1>(level));
  }
  for (std::size_t run = 0; run < parameter.values.size(); ++run) levels.of_run.push_back(order[key(run)]);
  return levels;
}

const SweepData::Parameter& parameter_of(const SweepData& data, const std::string& key) {
  const auto at = std::ranges::find(data.parameters, key, &SweepData::Parameter::key);
  CONTEND_CHECK(at != data.parameters.end(), "choose_axes() names parameters of the sweep");
  return *at;
}

/// Values of the metric by level of x and of `by`.
std::vector<std::vector<std::vector<double>>> grouped(const std::vector<double>& values, const Levels& x,
                                                      const Levels& by) {
  std::vector<std::vector<std::vector<double>>> groups(by.names.size(),
                                                       std::vector<std::vector<double>>(x.names.size()));
  for (std::size_t run = 0; run < values.size(); ++run)
    if (!std::isnan(values[run])) groups[by.of_run[run]][x.of_run[run]].push_back(values[run]);
  return groups;
}

FigureAxis axis_of(const SweepData::Parameter& parameter, const Levels& levels, bool numeric) {
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
  const auto metric = std::ranges::find(data.metrics, axes.metric, [](const auto& m) { return m.description.name; });
  CONTEND_CHECK(metric != data.metrics.end(), "choose_axes() names a metric of the sweep");
  const StoreMetric& what = metric->description;
  const Levels x_levels = levels_of(x);
  Levels by_levels{.names = {what.title}, .numbers = {NAN}, .of_run = std::vector<std::size_t>(data.runs(), 0)};
  if (!axes.by.empty()) by_levels = levels_of(parameter_of(data, axes.by));
  const auto groups = grouped(metric->values, x_levels, by_levels);
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
      const Estimate estimated = estimate(groups[row][level]);
      map.values.push_back(groups[row][level].empty() ? NAN : estimated.mean);
      if (groups[row][level].empty()) continue;
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
                     .caption = fmt::format("{}{}; means over all runs of the sweep with these values, bars: 95% "
                                            "Student-t intervals.",
                                            what.text, by_text),
                     .plot = std::move(lines)});
  if (!axes.by.empty())
    figures.push_back({.id = "sweep-map",
                       .title = fmt::format("{} over {} and {}", what.title, axes.x, axes.by),
                       .caption = fmt::format("{}; means over all runs with these values.", what.text),
                       .plot = std::move(map)});
  return figures;
}

}  // namespace contend
