#include "report/distributions.hpp"

#include "sim/check.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace contend {
namespace {

void drop_missing(std::vector<double>& values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
}

}  // namespace

FigureSeries cumulative(std::string name, std::vector<double> values) {
  drop_missing(values);
  std::ranges::sort(values);
  FigureSeries series{
      .name = std::move(name), .mark = SeriesMark::step, .x = {}, .y = {}, .low = {}, .high = {}, .labels = {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool last_of_its_value = i + 1 == values.size() || values[i + 1] > values[i];
    if (!last_of_its_value) continue;
    series.x.push_back(values[i]);
    series.y.push_back(static_cast<double>(i + 1) / static_cast<double>(values.size()));
  }
  return series;
}

BoxGroup box_of(std::string name, std::vector<double> values) {
  constexpr double kReach = 1.5;
  drop_missing(values);
  CONTEND_CHECK(!values.empty(), "a box has values");
  std::ranges::sort(values);
  BoxGroup box;
  box.name = std::move(name);
  box.count = values.size();
  box.q1 = percentile(values, 0.25);
  box.median = percentile(values, 0.5);
  box.q3 = percentile(values, 0.75);
  box.mean = mean(values);
  const double reach = kReach * (box.q3 - box.q1);
  const auto inside = [&](double value) { return value >= box.q1 - reach && value <= box.q3 + reach; };
  box.low = *std::ranges::find_if(values, inside);
  box.high = *std::find_if(values.rbegin(), values.rend(), inside);
  std::ranges::copy_if(values, std::back_inserter(box.outliers), [&](double value) { return !inside(value); });
  return box;
}

FigureSeries occupancy(std::string name, const std::vector<double>& from, const std::vector<double>& to,
                       const std::vector<double>& weights, double end) {
  std::map<double, double> changes{{0.0, 0.0}};
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (std::isnan(from[i])) continue;
    changes[from[i]] += weights[i];
    if (!std::isnan(to[i])) changes[to[i]] -= weights[i];
  }
  FigureSeries series{
      .name = std::move(name), .mark = SeriesMark::step, .x = {}, .y = {}, .low = {}, .high = {}, .labels = {}};
  double level = 0;
  for (const auto& [time, change] : changes) {
    level += change;
    if (!series.y.empty() && change == 0) continue;
    series.x.push_back(time);
    series.y.push_back(level);
  }
  if (series.x.back() < end) {
    series.x.push_back(end);
    series.y.push_back(level);
  }
  return series;
}

}  // namespace contend
