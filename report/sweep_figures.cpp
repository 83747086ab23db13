#include "report/sweep_data.hpp"
#include "sim/check.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace contend {
namespace {

/// The different values of a parameter: numbers in numeric order, then texts in theirs.
struct Levels {
  std::vector<std::string> names;
  std::vector<double> numbers;
  std::vector<std::size_t> of_row;  ///< by run, then by point without one
};

Levels levels_of(const SweepData::Parameter& parameter) {
  const auto key = [&](std::size_t row) {
    const double number = parameter.numbers[row];
    return std::tuple{std::isnan(number), std::isnan(number) ? 0.0 : number, parameter.values[row]};
  };
  std::map<std::tuple<bool, double, std::string>, std::size_t> order;
  for (std::size_t row = 0; row < parameter.values.size(); ++row) order[key(row)] = 0;
  Levels levels;
  for (auto& [level, index] : order) {
    index = levels.names.size();
    levels.names.push_back(std::get<2>(level).empty() ? "(none)" : std::get<2>(level));
    levels.numbers.push_back(std::get<0>(level) ? NAN : std::get<1>(level));
  }
  for (std::size_t row = 0; row < parameter.values.size(); ++row) levels.of_row.push_back(order[key(row)]);
  return levels;
}

const SweepData::Parameter& parameter_of(const SweepData& data, const std::string& key) {
  const auto at = std::ranges::find(data.parameters, key, &SweepData::Parameter::key);
  CONTEND_CHECK(at != data.parameters.end(), "choose_axes() names parameters of the sweep");
  return *at;
}

/// The runs that one figure stands for.
struct Group {
  std::size_t waiting = 0;  ///< points without a run
  std::set<std::int64_t> points;
  std::map<std::uint64_t, std::vector<double>> by_seed;  ///< a value a point that has one

  /// NaN where no seed has a value at every point.
  [[nodiscard]] Estimate figure() const {
    std::vector<double> means;
    for (const auto& [seed, values] : by_seed)
      if (values.size() == points.size() + waiting) means.push_back(mean(values));
    return estimate(means);
  }
};

/// By level of `by` and of x.
std::vector<std::vector<Group>> grouped(const SweepData& data, const std::vector<double>& values, const Levels& x,
                                        const Levels& by) {
  std::vector<std::vector<Group>> groups(by.names.size(), std::vector<Group>(x.names.size()));
  for (std::size_t row = 0; row < x.of_row.size(); ++row) {
    Group& group = groups[by.of_row[row]][x.of_row[row]];
    if (row >= data.runs()) {
      ++group.waiting;
      continue;
    }
    group.points.insert(data.points[row]);
    if (!std::isnan(values[row])) group.by_seed[data.seeds[row]].push_back(values[row]);
  }
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
  Levels by_levels{.names = {what.title}, .numbers = {NAN}, .of_row = std::vector<std::size_t>(x.values.size(), 0)};
  if (!axes.by.empty()) by_levels = levels_of(parameter_of(data, axes.by));
  const auto groups = grouped(data, metric->values, x_levels, by_levels);
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
