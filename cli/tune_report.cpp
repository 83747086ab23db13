#include "cli/tune_report.hpp"

#include "cli/text_table.hpp"
#include "report/front_figure.hpp"
#include "scenarios/sweep/baseline.hpp"
#include "text/csv.hpp"
#include "text/json_writer.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace contend {
namespace {

constexpr std::size_t kBestShown = 10;

/// The rows that people see: the front, or the best.
std::size_t shown(const TuneOptions& options, const TuneResult& result) {
  if (options.goals.size() == 1) return std::min(kBestShown, result.points.size());
  return static_cast<std::size_t>(
      std::count_if(result.points.begin(), result.points.end(), [](const TunedPoint& each) { return each.on_front; }));
}

const StorePoint& stored(const SweepPlan& plan, const TunedPoint& tuned) {
  return plan.points()[static_cast<std::size_t>(tuned.point)];
}

/// The difference may be chance: the interval of the ratio holds 1.
bool is_tie(const TunedPoint& each) {
  return std::isfinite(each.to_best.low) && each.to_best.low <= 1 && each.to_best.high >= 1;
}

std::string change_to_best(const RatioEstimate& ratio) {
  if (std::isnan(ratio.ratio)) return "-";
  const std::string change = fmt::format("{:+.2f} %", kPercent * (ratio.ratio - 1));
  if (std::isnan(ratio.low)) return change;
  return fmt::format("{} [{:+.2f}, {:+.2f}]", change, kPercent * (ratio.low - 1), kPercent * (ratio.high - 1));
}

/// What a search reports of each point: its goals, then the metrics of its bounds.
struct TuneColumn {
  std::size_t metric;
  std::function<const Estimate&(const TunedPoint&)> figure;
};
std::vector<TuneColumn> columns_of(const TuneOptions& options) {
  std::vector<TuneColumn> columns;
  for (std::size_t i = 0; i < options.goals.size(); ++i)
    columns.push_back({options.goals[i].metric, [i](const TunedPoint& p) -> const Estimate& { return p.goals[i]; }});
  for (std::size_t i = 0; i < options.bounds.size(); ++i)
    columns.push_back({options.bounds[i].metric, [i](const TunedPoint& p) -> const Estimate& { return p.bounds[i]; }});
  return columns;
}

/// How many points are off the front, perhaps by chance.
std::string maybe_text(const TuneResult& result) {
  const auto count = std::ranges::count_if(result.points, &TunedPoint::may_be_on_front);
  return count == 0 ? "" : fmt::format("; these seeds can't tell whether {} more should be", count);
}

/// Which points have no value, and why.
std::string valueless_text(const SweepPlan& plan, const TuneResult& result) {
  constexpr std::size_t kShown = 5;
  const std::size_t count = result.useless.size();
  if (count == 0) return {};
  std::string text = count == 1 ? "1 point has no value:\n" : fmt::format("{} points have no value:\n", count);
  for (std::size_t i = 0; i < std::min(count, kShown); ++i) {
    const ValuelessPoint& each = result.useless[i];
    const auto& settings = plan.points()[static_cast<std::size_t>(each.point)].settings;
    text += fmt::format("  point {}, {}: {}\n", each.point, fmt::join(settings, " "), each.reason);
  }
  return text + (count > kShown ? fmt::format("  ... and {} more\n", count - kShown) : "");
}

std::string metric_title(const StoreMetric& metric) {
  return shown_unit(metric.unit).empty() ? metric.name : fmt::format("{} [{}]", metric.title, shown_unit(metric.unit));
}

/// What stands below a table of so many points, of which so many are ties.
std::string tune_summary(const SweepPlan& plan, const TuneOptions& options, const TuneResult& result, std::size_t count,
                         std::size_t ties) {
  std::string text;
  if (options.goals.size() > 1 && count > 0)
    text += fmt::format("{} on the Pareto front: no other that ran is as good in all goals and better in one{}\n",
                        count == 1 ? "1 point is" : fmt::format("{} points are", count), maybe_text(result));
  if (ties > 0)
    text += fmt::format("tie: {} may be as good as the best; the interval of the ratio under equal seeds holds 1\n",
                        ties == 1 ? "this point" : "these points");
  text += fmt::format("tried {} of {} points in {} runs", result.tried, plan.points().size(), result.runs);
  if (!options.bounds.empty()) {
    const auto holding =
        std::count_if(result.points.begin(), result.points.end(), [](const auto& p) { return p.holds; });
    text += fmt::format("; {} hold the bounds", holding);
  }
  return text + "\n" + valueless_text(plan, result);
}

}  // namespace

std::string tune_table(const SweepPlan& plan, const TuneOptions& options, const TuneResult& result) {
  const StoreInfo& info = plan.info();
  const bool compares = options.goals.size() == 1;
  const auto columns = columns_of(options);
  std::vector<std::string> titles{"point"};
  for (const StoreParameter& each : info.parameters) titles.push_back(each.key);
  for (const TuneColumn& each : columns) {
    titles.push_back(metric_title(info.metrics[each.metric]));
    titles.emplace_back("95 %");
  }
  if (!options.bounds.empty()) titles.emplace_back("bounds");
  if (compares) titles.emplace_back("to the best");
  titles.emplace_back("seeds");
  Table table{titles};
  const std::size_t count = shown(options, result);
  std::vector<std::vector<std::string>> means, widths;
  for (const TuneColumn& each : columns) {
    std::vector<double> mean_values, width_values;
    const double factor = shown_factor(info.metrics[each.metric].unit);
    for (std::size_t i = 0; i < count; ++i) mean_values.push_back(factor * each.figure(result.points[i]).mean);
    for (std::size_t i = 0; i < count; ++i) width_values.push_back(factor * each.figure(result.points[i]).half_width);
    means.push_back(format_column(mean_values));
    widths.push_back(format_column(width_values));
  }
  std::size_t ties = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const TunedPoint& each = result.points[i];
    std::vector<std::string> cells{fmt::format("{}", each.point)};
    for (std::size_t p = 0; p < info.parameters.size(); ++p)
      cells.push_back(value_text(stored(plan, each), p).value_or("-"));
    for (std::size_t c = 0; c < columns.size(); ++c) {
      cells.push_back(means[c][i]);
      cells.push_back(std::isnan(columns[c].figure(each).half_width) ? "-" : "± " + widths[c][i]);
    }
    if (!options.bounds.empty()) cells.emplace_back(each.holds ? "hold" : "broken");
    if (compares) {
      const bool tie = i > 0 && is_tie(each);
      ties += tie ? 1 : 0;
      cells.push_back(i == 0 ? "best" : change_to_best(each.to_best) + (tie ? " tie" : ""));
    }
    cells.push_back(fmt::format("{}", each.goals.front().count));
    table.add(std::move(cells));
  }
  return (count > 0 ? table.text() : std::string{}) + tune_summary(plan, options, result, count, ties);
}

std::string tune_json(const SweepPlan& plan, const TuneOptions& options, const TuneResult& result) {
  const StoreInfo& info = plan.info();
  JsonWriter json;
  json.begin_object().member("metric", info.metrics[options.goals.front().metric].name);
  json.member("points", static_cast<std::int64_t>(plan.points().size()));
  json.member("tried", result.tried).member("runs", result.runs);
  json.key("without_value").begin_array();
  for (const ValuelessPoint& each : result.useless)
    json.begin_object().member("point", each.point).member("reason", each.reason).end_object();
  json.end_array();
  json.key(options.goals.size() == 1 ? "best" : "front").begin_array();
  for (std::size_t i = 0; i < shown(options, result); ++i) {
    const TunedPoint& each = result.points[i];
    const Estimate& first = each.goals.front();
    json.begin_object().member("point", each.point).member("mean", first.mean);
    json.member("ci95", first.half_width).member("seeds", static_cast<std::int64_t>(first.count));
    if (options.goals.size() == 1) {
      json.key("to_best").begin_object().member("ratio", each.to_best.ratio);
      json.member("low", each.to_best.low).member("high", each.to_best.high).member("tie", i > 0 && is_tie(each));
      json.end_object();
    }
    if (!options.bounds.empty()) json.member("holds", each.holds);
    json.key("figures").begin_object();
    for (const TuneColumn& column : columns_of(options))
      json.member(info.metrics[column.metric].name, column.figure(each).mean);
    json.end_object().key("settings").begin_array();
    for (const std::string& setting : stored(plan, each).settings) json.value(setting);
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.take();
}

std::string tune_svg(const SweepPlan& plan, const TuneOptions& options, const TuneResult& result) {
  const auto goal = [&](std::size_t i) {
    const StoreMetric& metric = plan.info().metrics[options.goals[i].metric];
    return FrontGoal{metric.title, metric.unit, options.goals[i].maximise};
  };
  std::vector<FrontPoint> points;
  for (const TunedPoint& each : result.points) {
    const FrontPoint::Kind kind = !each.holds            ? FrontPoint::Kind::broken
                                  : each.on_front        ? FrontPoint::Kind::front
                                  : each.may_be_on_front ? FrontPoint::Kind::tie
                                                         : FrontPoint::Kind::dominated;
    points.push_back({each.goals[0].mean, each.goals[1].mean, kind, fmt::format("point {}", each.point)});
  }
  return figure_svg(front_figure(plan.info().name, goal(0), goal(1), std::move(points)));
}

std::string tune_csv(const SweepPlan& plan, const TuneOptions& options, const TuneResult& result) {
  const StoreInfo& info = plan.info();
  const auto columns = columns_of(options);
  std::vector<std::string> titles{"point"};
  for (const StoreParameter& each : info.parameters) titles.push_back(each.column);
  for (const TuneColumn& each : columns) {
    titles.push_back(info.metrics[each.metric].name);
    titles.push_back(info.metrics[each.metric].name + "_ci95");
  }
  for (const char* title : {"seeds", "holds", "front", "tie"}) titles.emplace_back(title);
  std::string text;
  const auto add = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text += ",";
      append_csv_field(text, cells[i]);
    }
    text += "\n";
  };
  add(titles);
  const auto number = [](double value) { return std::isnan(value) ? std::string{} : fmt::format("{}", value); };
  for (const TunedPoint& each : result.points) {
    std::vector<std::string> cells{fmt::format("{}", each.point)};
    for (std::size_t p = 0; p < info.parameters.size(); ++p)
      cells.push_back(value_text(stored(plan, each), p).value_or(""));
    for (const TuneColumn& column : columns) {
      cells.push_back(number(column.figure(each).mean));
      cells.push_back(number(column.figure(each).half_width));
    }
    cells.push_back(fmt::format("{}", each.goals.front().count));
    cells.emplace_back(each.holds ? "1" : "0");
    cells.emplace_back(each.on_front ? "1" : "0");
    const bool is_best = &each == &result.points.front();
    cells.emplace_back((options.goals.size() > 1 ? each.may_be_on_front : !is_best && is_tie(each)) ? "1" : "0");
    add(cells);
  }
  return text;
}

}  // namespace contend
