#include "report/sweep_data.hpp"
#include "report/sweep_groups.hpp"
#include "report/sweep_names.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace contend {
namespace {

/// Ratio at which the colours end; larger ratios do not change which side is better.
constexpr double kMost = 4;

/// A name for a file: letters, digits, `.`, `_` and `-`.
std::string file_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    name += plain ? c : '-';
  }
  return name;
}

std::vector<bool> rows_at(std::vector<bool> rows, const SweepLevels& levels, std::size_t level) {
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = rows[row] && levels.of_row[row] == level;
  return rows;
}

/// The geometric mean of the ratios, point by point and seed by seed, of values that are given as logarithms; of the
/// seeds that both groups have for all their points.
double geometric_ratio(const SweepGroup& own, const SweepGroup& base) {
  std::vector<double> differences;
  for (const auto& [seed, values] : own.by_seed) {
    const auto partner = base.by_seed.find(seed);
    if (partner == base.by_seed.end() || values.size() != own.points.size() + own.waiting ||
        partner->second.size() != base.points.size() + base.waiting)
      continue;
    differences.push_back(mean(values) - mean(partner->second));
  }
  return std::exp(mean(differences));
}

}  // namespace

std::vector<Figure> ratio_maps(const SweepData& data, const SweepAxes& axes, const SweepReference& reference) {
  if (axes.x.empty() || axes.by.empty() || axes.x == reference.key || axes.by == reference.key)
    throw InputError{fmt::format("maps relative to {} need two other parameters that vary", reference.key)};
  const SweepData::Metric& metric = metric_of(data, axes.metric);
  const StoreMetric& what = metric.description;
  const SweepLevels x = levels_of(parameter_of(data, axes.x)), by = levels_of(parameter_of(data, axes.by));
  const SweepLevels facets = levels_of(parameter_of(data, reference.key));
  const std::size_t base_level = level_named(facets, reference);
  const std::vector<bool> held = held_rows(data, axes);
  std::vector<double> logarithms;
  for (const double value : metric.values) logarithms.push_back(value > 0 ? std::log(value) : NAN);
  const auto base = grouped(data, logarithms, x, by, rows_at(held, facets, base_level));
  std::vector<Figure> figures;
  for (std::size_t facet = 0; facet < facets.names.size(); ++facet) {
    if (facet == base_level) continue;
    const auto own = grouped(data, logarithms, x, by, rows_at(held, facets, facet));
    HeatMap map;
    map.x = level_axis(parameter_of(data, axes.x), x);
    map.y = level_axis(parameter_of(data, axes.by), by);
    map.value_title = "ratio";
    map.columns = x.names.size();
    map.middle = 1;
    map.low = 1 / kMost;
    map.high = kMost;
    for (std::size_t row = 0; row < own.size(); ++row) {
      for (std::size_t column = 0; column < own[row].size(); ++column) {
        map.values.push_back(geometric_ratio(own[row][column], base[row][column]));
      }
    }
    std::string id = "ratio-map-" + file_name(facets.names[facet]);
    if (std::ranges::find(figures, id, &Figure::id) != figures.end()) id += fmt::format("-{}", facet);
    figures.push_back({.id = id,
                       .title = fmt::format("{}: {} over {}{}", capitalised(what.title), facets.titles[facet],
                                            facets.titles[base_level], held_text(data, axes)),
                       .caption = fmt::format("{} with {} = {} over that with {}, as a geometric mean of ratios.{}",
                                              capitalised(what.text), reference.key, facets.names[facet],
                                              reference.value, averaged_text(data, axes)),
                       .plot = std::move(map)});
  }
  if (figures.empty()) throw InputError{fmt::format("{} has no other value than {}", reference.key, reference.value)};
  return figures;
}

}  // namespace contend
