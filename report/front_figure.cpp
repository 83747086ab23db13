#include "report/front_figure.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

FigureAxis goal_axis(const FrontGoal& goal) {
  return {.title = goal.title,
          .unit = goal.unit,
          .categories = {},
          .shown_title = fmt::format("{}, {} is better", goal.title, goal.maximise ? "more" : "less")};
}

}  // namespace

Figure front_figure(const std::string& name, const FrontGoal& x, const FrontGoal& y, std::vector<FrontPoint> points) {
  // From the best x on, so that each step keeps the y of the point before until the next x is reached.
  std::stable_sort(points.begin(), points.end(),
                   [&](const FrontPoint& a, const FrontPoint& b) { return x.maximise ? a.x > b.x : a.x < b.x; });
  XyPlot plot{.x = goal_axis(x), .y = goal_axis(y), .series = {}};
  const auto add = [&](const char* title, FrontPoint::Kind kind, SeriesMark mark) {
    FigureSeries series{.name = title, .mark = mark, .x = {}, .y = {}, .low = {}, .high = {}, .labels = {}};
    for (const FrontPoint& each : points) {
      if (each.kind != kind) continue;
      series.x.push_back(each.x);
      series.y.push_back(each.y);
      series.labels.push_back(each.label);
    }
    if (!series.x.empty()) plot.series.push_back(std::move(series));
  };
  add("Pareto front", FrontPoint::Kind::front, SeriesMark::step);
  add("Pareto front", FrontPoint::Kind::front, SeriesMark::dots);
  add("dominated", FrontPoint::Kind::dominated, SeriesMark::dots);
  add("dominated, perhaps by chance", FrontPoint::Kind::tie, SeriesMark::dots);
  add("breaks a bound", FrontPoint::Kind::broken, SeriesMark::dots);
  return {.id = "front",
          .title = fmt::format("{}: {} and {}", name, x.title, y.title),
          .caption =
              "Each dot is the mean of a point over its seeds. The line is the edge of what the points that ran "
              "offer.",
          .plot = std::move(plot)};
}

}  // namespace contend
