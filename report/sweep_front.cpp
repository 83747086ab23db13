// Defines sweep_front() (report/sweep_data.hpp).

#include "report/front_figure.hpp"
#include "report/sweep_data.hpp"
#include "report/sweep_groups.hpp"
#include "scenarios/sweep/pareto.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

/// True for runs whose jobs have all finished. The others have no figures that can be compared: a run that loses its
/// longest jobs would win.
std::vector<bool> whole_runs(const SweepData& data) {
  std::vector<bool> whole(data.runs());
  const auto find = [&](std::string_view name) {
    return std::ranges::find(data.metrics, name, [](const auto& metric) { return metric.description.name; });
  };
  const auto jobs = find("jobs"), finished = find("finished");
  const bool counts = jobs != data.metrics.end() && finished != data.metrics.end();
  for (std::size_t run = 0; run < data.runs(); ++run)
    whole[run] = data.states[run] == RunStatus::done && (!counts || finished->values[run] >= jobs->values[run]);
  return whole;
}

/// `policies.placement = lwf, NIC = 10Gbps`: what the point of a run has of the parameters that vary.
std::string settings_of(const SweepData& data, std::size_t run) {
  std::string text;
  for (const SweepData::Parameter& each : data.parameters) {
    const auto differs = [&](const std::string& value) { return value != each.values.front(); };
    if (each.values[run].empty() || std::ranges::none_of(each.values, differs)) continue;
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", each.title, each.values[run]);
  }
  return text;
}

}  // namespace

Figure sweep_front(const SweepData& data, const SweepGoal& x, const SweepGoal& y) {
  std::vector<std::string> names;
  std::ranges::transform(data.metrics, std::back_inserter(names),
                         [](const auto& each) { return each.description.name; });
  const std::vector<bool> whole = whole_runs(data);
  std::vector<ParetoGoal> goals;
  std::vector<FrontGoal> axes;
  std::map<std::int64_t, std::size_t> index_of;  // by point
  std::vector<std::size_t> run_of;               // by index: one of its runs
  for (std::size_t run = 0; run < data.runs(); ++run) {
    if (index_of.try_emplace(data.points[run], run_of.size()).second) run_of.push_back(run);
  }
  for (const SweepGoal& each : {x, y}) {
    check_name(each.metric, names, "metric");
    const SweepData::Metric& metric = metric_of(data, each.metric);
    axes.push_back({metric.description.title, metric.description.unit, each.maximise});
    goals.push_back({each.maximise, std::vector<std::vector<double>>(run_of.size())});
    for (std::size_t run = 0; run < data.runs(); ++run)
      goals.back().values[index_of.at(data.points[run])].push_back(whole[run] ? metric.values[run] : NAN);
  }
  std::size_t most = 0;
  for (const auto& each : goals.front().values) most = std::max(most, each.size());
  std::vector<std::size_t> points;
  for (std::size_t point = 0; point < run_of.size(); ++point) {
    const bool has_values =
        std::ranges::all_of(goals, [&](const ParetoGoal& goal) { return std::isfinite(mean(goal.values[point])); });
    if (has_values && goals.front().values[point].size() == most) points.push_back(point);
  }
  if (points.empty())
    throw InputError{fmt::format("no point of the sweep has {} and {} under each seed, with all its jobs finished",
                                 x.metric, y.metric)};
  const std::vector<ParetoPlace> places = pareto_places(goals, points, data.draws);
  std::vector<FrontPoint> drawn;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto kind = places[i] == ParetoPlace::front ? FrontPoint::Kind::front
                      : places[i] == ParetoPlace::tie ? FrontPoint::Kind::tie
                                                      : FrontPoint::Kind::dominated;
    drawn.push_back(
        {mean(goals[0].values[points[i]]), mean(goals[1].values[points[i]]), kind,
         fmt::format("point {}: {}", data.points[run_of[points[i]]], settings_of(data, run_of[points[i]]))});
  }
  return front_figure(data.info.name, axes[0], axes[1], std::move(drawn));
}

}  // namespace contend
