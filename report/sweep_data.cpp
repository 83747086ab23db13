#include "report/sweep_data.hpp"

#include "report/sweep_groups.hpp"
#include "report/sweep_names.hpp"
#include "scenarios/sweep/store_query.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace contend {
namespace {

std::string text_of(const SqlValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return {};
}

template <class Number>
void write_whole(JsonWriter& json, std::string_view name, const std::vector<Number>& values) {
  json.key(name).raw(fmt::format("[{}]", fmt::join(values, ",")));
}

std::size_t distinct(const SweepData::Parameter& parameter) {
  return std::set<std::string>(parameter.values.begin(), parameter.values.end()).size();
}

/// What the points that serve as baselines have in common and others have not, `NIC = 200Gbps`.
std::string baseline_text(const SweepData& data, const std::vector<StorePoint>& points) {
  std::string text;
  for (std::size_t i = 0; i < data.parameters.size(); ++i) {
    std::set<std::string> values;
    bool differs = false;
    for (const StorePoint& point : points) {
      const auto& own = std::ranges::lower_bound(points, *point.baseline, {}, &StorePoint::point)->values[i];
      values.insert(text_of(own));
      differs = differs || own != point.values[i];
    }
    if (!differs) continue;
    const std::string value = values.size() == 1 ? value_titles({*values.begin()}).front() : "its own";
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", data.parameters[i].title, value);
  }
  return text;
}

/// The value of most rows that are left, the first of several.
std::string most_frequent(const SweepLevels& levels, const std::vector<bool>& only) {
  std::vector<std::size_t> count(levels.names.size()), first(levels.names.size(), SIZE_MAX);
  for (std::size_t row = 0; row < only.size(); ++row) {
    if (!only[row]) continue;
    const std::size_t level = levels.of_row[row];
    ++count[level];
    first[level] = std::min(first[level], row);
  }
  std::size_t best = 0;
  for (std::size_t level = 1; level < count.size(); ++level)
    if (count[level] > count[best] || (count[level] == count[best] && first[level] < first[best])) best = level;
  return levels.names[best];
}

/// Holds what would otherwise be averaged: words first, since a mean over policies says least.
void hold_others(const SweepData& data, SweepAxes& axes, const std::string& taken) {
  std::vector<SweepLevels> levels;
  for (const auto& parameter : data.parameters) levels.push_back(levels_of(parameter));
  std::vector<const SweepLevels*> drawn;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::string& key = data.parameters[i].key;
    const bool settled = std::ranges::find(axes.averaged, key) != axes.averaged.end() ||
                         std::ranges::find(axes.held, key, &SweepReference::key) != axes.held.end();
    if (key == axes.x || key == axes.by || key == taken)
      drawn.push_back(&levels[i]);
    else if (!settled)
      order.push_back(i);
  }
  std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return !data.parameters[i].numeric; });
  for (const std::size_t i : order) {
    const std::vector<bool> rows = held_rows(data, axes);
    if (!is_mixed(levels[i], drawn, rows)) continue;
    SweepAxes fewer = axes;
    fewer.held.push_back({data.parameters[i].key, most_frequent(levels[i], rows)});
    // Of points drawn at random hardly any have the same value of it: these are drawn apart.
    if (2 * combinations(drawn, held_rows(data, fewer)) >= combinations(drawn, rows)) axes = std::move(fewer);
  }
}

/// The values that are asked for, without values of parameters that are drawn anyway.
void check_held(const SweepData& data, const SweepAxes& axes, const std::string& taken,
                const std::vector<std::string>& keys) {
  const auto free = [&](const std::string& key, std::string_view option) {
    check_name(key, keys, "parameter");
    if (key == axes.x || key == axes.by || key == taken)
      throw InputError{fmt::format("{} can't be {}: the figures have all its values", key, option)};
  };
  for (const std::string& key : axes.averaged) free(key, "averaged");
  for (const SweepReference& each : axes.held) {
    check_name(each.key, keys, "parameter");
    (void)level_named(levels_of(parameter_of(data, each.key)), each);
    free(each.key, "held");
  }
}

}  // namespace

SweepData read_sweep(const std::string& path) {
  SweepStore store = SweepStore::open(path);
  SweepData data;
  data.info = store.info();
  data.has_checksums = store.has_checksums();
  data.draws = draws_of(data.info);
  std::set<std::string> builds;
  for (const StoreManifest& manifest : store.manifests()) builds.insert(manifest.build());
  data.build = fmt::format("{}", fmt::join(builds, ", "));
  for (const StoreParameter& each : data.info.parameters)
    data.parameters.push_back({.key = each.key, .unit = each.unit, .numeric = true, .values = {}, .numbers = {}});
  for (const StoreMetric& each : data.info.metrics) data.metrics.push_back({.description = each, .values = {}});
  const std::vector<StorePoint> points = store.points();
  const auto append_values = [&](const StorePoint& point) {
    for (std::size_t i = 0; i < data.parameters.size(); ++i) {
      SweepData::Parameter& parameter = data.parameters[i];
      parameter.values.push_back(text_of(point.values[i]));
      parameter.numbers.push_back(point.numbers[i]);
      if (!parameter.values.back().empty() && std::isnan(point.numbers[i])) parameter.numeric = false;
    }
  };
  std::vector<std::string> keys;
  for (const auto& parameter : data.parameters) keys.push_back(parameter.key);
  const std::vector<std::string> titles = key_titles(keys);
  for (std::size_t i = 0; i < titles.size(); ++i) data.parameters[i].title = titles[i];
  const bool compares =
      !points.empty() && std::ranges::all_of(points, [](const auto& each) { return each.baseline.has_value(); });
  if (compares) data.baseline_text = baseline_text(data, points);
  std::set<std::int64_t> begun;
  for (const StoreRun& run : store.runs()) {
    const auto point = std::ranges::lower_bound(points, run.point, {}, &StorePoint::point);
    if (point == points.end() || point->point != run.point)
      throw InputError{fmt::format("{}: run {} belongs to point {}, which is not there", path, run.run, run.point)};
    data.points.push_back(run.point);
    if (compares) data.baselines.push_back(*point->baseline);
    data.seeds.push_back(run.seed);
    data.states.push_back(run.status);
    data.errors.push_back(run.error);
    append_values(*point);
    begun.insert(run.point);
    for (std::size_t i = 0; i < data.metrics.size(); ++i)
      data.metrics[i].values.push_back(run.status == RunStatus::done ? run.metrics[i] : NAN);
  }
  if (data.runs() == 0) throw InputError{path + ": the store has no run yet"};
  for (const StorePoint& point : points) {
    if (begun.count(point.point) != 0) continue;
    data.points.push_back(point.point);
    append_values(point);
  }
  return data;
}

SweepAxes choose_axes(const SweepData& data, const SweepAxes& wanted, const std::string& taken) {
  std::vector<std::string> keys, metrics;
  for (const auto& parameter : data.parameters) keys.push_back(parameter.key);
  for (const auto& metric : data.metrics) metrics.push_back(metric.description.name);
  check_name(wanted.x, keys, "parameter");
  check_name(wanted.by, keys, "parameter");
  check_name(taken, keys, "parameter");
  check_name(wanted.metric, metrics, "metric");
  SweepAxes axes = wanted;
  constexpr std::size_t kMostLines = 21;  // seven colours, each with three dashes
  const auto is_free = [&](const SweepData::Parameter& parameter, const std::string& other) {
    const bool settled = std::ranges::find(axes.averaged, parameter.key) != axes.averaged.end() ||
                         std::ranges::find(axes.held, parameter.key, &SweepReference::key) != axes.held.end();
    return parameter.key != other && parameter.key != taken && !settled && distinct(parameter) > 1;
  };
  const auto best = [&](const std::string& other, bool numbers_first, std::size_t most) {
    const auto rank = [&](const SweepData::Parameter& p) { return std::pair{p.numeric == numbers_first, distinct(p)}; };
    const SweepData::Parameter* chosen = nullptr;
    for (const auto& parameter : data.parameters)
      if (is_free(parameter, other) && distinct(parameter) <= most &&
          (chosen == nullptr || rank(parameter) > rank(*chosen)))
        chosen = &parameter;
    return chosen == nullptr ? std::string{} : chosen->key;
  };
  if (axes.x.empty()) axes.x = best(axes.by, true, SIZE_MAX);
  if (axes.x.empty() && !keys.empty()) axes.x = keys.front();
  if (axes.by.empty()) axes.by = best(axes.x, false, kMostLines);
  if (axes.metric.empty()) {
    const bool jct = std::ranges::find(metrics, "avg_jct_s") != metrics.end();
    axes.metric = jct ? "avg_jct_s" : metrics.empty() ? "" : metrics.front();
  }
  check_held(data, axes, taken, keys);
  hold_others(data, axes, taken);
  return axes;
}

void write_sweep_json(JsonWriter& json, const SweepData& data, const SweepAxes& axes) {
  json.key("sweep").begin_object().member("kind", data.info.kind).member("planned", data.info.runs);
  json.member("resampled", data.draws == Draws::resamples);
  json.member("repeat", data.info.repeat).member("x", axes.x).member("by", axes.by).member("metric", axes.metric);
  json.key("held").begin_object();
  for (const SweepReference& each : axes.held) json.member(each.key, each.value);
  json.end_object();
  write_texts(json, "averaged", axes.averaged);
  json.key("parameters").begin_array();
  for (const SweepData::Parameter& parameter : data.parameters) {
    json.begin_object()
        .member("key", parameter.key)
        .member("title", parameter.title)
        .member("unit", parameter.unit)
        .member("numeric", parameter.numeric);
    // Each value once, in order: a sweep of thousands of points has few different ones.
    const SweepLevels levels = levels_of(parameter);
    write_texts(json, "names", levels.names);
    if (levels.titles != levels.names) write_texts(json, "titles", levels.titles);
    json.key("numbers").numbers(levels.numbers);
    write_whole(json, "codes", levels.of_row);
    json.end_object();
  }
  json.end_array().key("metrics").begin_array();
  for (const SweepData::Metric& metric : data.metrics) {
    json.begin_object().member("name", metric.description.name).member("title", metric.description.title);
    json.member("unit", metric.description.unit).member("text", metric.description.text);
    json.key("values").numbers(metric.values);
    json.end_object();
  }
  json.end_array();
  const auto first_waiting = data.points.begin() + static_cast<std::ptrdiff_t>(data.runs());
  write_whole(json, "points", std::vector(data.points.begin(), first_waiting));
  write_whole(json, "waiting", std::vector(first_waiting, data.points.end()));
  write_whole(json, "baselines", data.baselines);
  json.member("baseline", data.baseline_text);
  write_whole(json, "seeds", data.seeds);
  json.key("states").begin_array();
  for (const RunStatus state : data.states) json.value(to_string(state));
  json.end_array().key("errors").begin_array();
  for (const std::string& error : data.errors) json.value(error);
  json.end_array().end_object();
}

}  // namespace contend
