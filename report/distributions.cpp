#include "report/distributions.hpp"

#include "sim/check.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

void drop_missing(std::vector<double>& values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
}

/// Cuts ascending values into at most `most` groups of neighbours, none of which has more of the values or spans more
/// of their range than 2 / `most` of all. Returns where the groups begin, and the number of values.
std::vector<std::size_t> cuts_of(const std::vector<double>& x, std::size_t most) {
  const std::size_t all = x.size(), half = most / 2;
  std::vector<std::size_t> cuts{all};
  for (std::size_t i = 0; i < half; ++i) {
    cuts.push_back(i * all / half);
    const double reach = x.front() + (x.back() - x.front()) * static_cast<double>(i) / static_cast<double>(half);
    cuts.push_back(static_cast<std::size_t>(std::ranges::lower_bound(x, reach) - x.begin()));
  }
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

}  // namespace

void thin_out(FigureSeries& series) {
  constexpr std::size_t kOfEach = 4, kGroups = kMostPoints / kOfEach;
  const std::size_t all = series.x.size();
  if (all <= kMostPoints) return;
  CONTEND_CHECK(series.low.empty() && series.labels.empty(), "a curve has neither intervals nor names of points");
  const std::vector<std::size_t> cuts = cuts_of(series.x, kGroups);
  std::size_t kept = 0;
  for (std::size_t group = 0; group + 1 < cuts.size(); ++group) {
    const std::size_t begin = cuts[group], end = cuts[group + 1];
    const auto from = series.y.begin() + static_cast<std::ptrdiff_t>(begin),
               to = series.y.begin() + static_cast<std::ptrdiff_t>(end);
    const auto [low, high] = std::minmax_element(from, to);
    std::array<std::size_t, kOfEach> points{begin, static_cast<std::size_t>(low - series.y.begin()),
                                            static_cast<std::size_t>(high - series.y.begin()), end - 1};
    std::ranges::sort(points);
    // A point is never kept behind where it was, so that no other is lost.
    for (std::size_t i = 0; i < kOfEach; ++i) {
      if (i > 0 && points[i] == points[i - 1]) continue;
      series.x[kept] = series.x[points[i]];
      series.y[kept++] = series.y[points[i]];
    }
  }
  series.x.resize(kept);
  series.y.resize(kept);
  series.left_out = all - kept;
}

void say_what_is_left_out(Figure& figure) {
  std::size_t points = 0, outliers = 0;
  if (const auto* plot = std::get_if<XyPlot>(&figure.plot))
    for (const FigureSeries& each : plot->series) points += each.left_out;
  if (const auto* plot = std::get_if<BoxPlot>(&figure.plot))
    for (const BoxGroup& each : plot->groups) outliers += each.left_out;
  if (points > 0)
    figure.caption += fmt::format(
        " {} points of the curves are left out; of neighbours the first, lowest, highest and last are drawn.", points);
  if (outliers > 0) figure.caption += fmt::format(" {} dots are left out, evenly, none of the outermost.", outliers);
}

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
  thin_out(series);
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
  if (const std::size_t all = box.outliers.size(); all > kMostOutliers) {
    for (std::size_t i = 0; i < kMostOutliers; ++i) box.outliers[i] = box.outliers[i * (all - 1) / (kMostOutliers - 1)];
    box.outliers.resize(kMostOutliers);
    box.left_out = all - kMostOutliers;
  }
  return box;
}

FigureSeries occupancy(std::string name, const std::vector<double>& from, const std::vector<double>& to,
                       const std::vector<double>& weights, double end) {
  std::vector<std::pair<double, double>> changes{{0.0, 0.0}};
  changes.reserve(2 * from.size() + 1);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (std::isnan(from[i])) continue;
    changes.emplace_back(from[i], weights[i]);
    if (!std::isnan(to[i])) changes.emplace_back(to[i], -weights[i]);
  }
  std::ranges::stable_sort(changes, {}, &std::pair<double, double>::first);
  FigureSeries series{
      .name = std::move(name), .mark = SeriesMark::step, .x = {}, .y = {}, .low = {}, .high = {}, .labels = {}};
  double level = 0;
  for (std::size_t i = 0; i < changes.size();) {
    const double time = changes[i].first;
    double change = 0;
    for (; i < changes.size() && changes[i].first == time; ++i) change += changes[i].second;
    level += change;
    if (!series.y.empty() && change == 0) continue;
    series.x.push_back(time);
    series.y.push_back(level);
  }
  if (series.x.back() < end) {
    series.x.push_back(end);
    series.y.push_back(level);
  }
  thin_out(series);
  return series;
}

}  // namespace contend
