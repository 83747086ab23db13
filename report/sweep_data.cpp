#include "report/sweep_data.hpp"

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

void check_name(const std::string& name, const std::vector<std::string>& names, std::string_view what) {
  if (name.empty() || std::ranges::find(names, name) != names.end()) return;
  const std::string near = nearest_name(name, names);
  throw InputError{fmt::format(
      "the sweep has no {} \"{}\"{}", what, name,
      near.empty() ? fmt::format("; it has {}", fmt::join(names, ", ")) : fmt::format("; did you mean \"{}\"?", near))};
}

}  // namespace

SweepData read_sweep(const std::string& path) {
  SweepStore store = SweepStore::open(path);
  SweepData data;
  data.info = store.info();
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
  std::set<std::int64_t> begun;
  for (const StoreRun& run : store.runs()) {
    const auto point = std::ranges::lower_bound(points, run.point, {}, &StorePoint::point);
    if (point == points.end() || point->point != run.point)
      throw InputError{fmt::format("{}: run {} belongs to point {}, which is not there", path, run.run, run.point)};
    data.points.push_back(run.point);
    data.seeds.push_back(run.seed);
    data.states.push_back(run.status);
    data.errors.push_back(run.error);
    append_values(*point);
    begun.insert(run.point);
    for (std::size_t i = 0; i < data.metrics.size(); ++i)
      data.metrics[i].values.push_back(run.status == RunStatus::done ? run.metrics[i] : NAN);
  }
  if (data.runs() == 0) throw InputError{path + ": the store has no run yet"};
  for (const StorePoint& point : points)
    if (begun.count(point.point) == 0) append_values(point);
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
  const auto best = [&](const std::string& other) {
    const SweepData::Parameter* chosen = nullptr;
    for (const auto& parameter : data.parameters) {
      if (parameter.key == other || parameter.key == taken || distinct(parameter) < 2) continue;
      const auto rank = [](const SweepData::Parameter& p) { return std::pair{p.numeric, distinct(p)}; };
      if (chosen == nullptr || rank(parameter) > rank(*chosen)) chosen = &parameter;
    }
    return chosen == nullptr ? std::string{} : chosen->key;
  };
  if (axes.x.empty()) axes.x = best(axes.by);
  if (axes.x.empty() && !keys.empty()) axes.x = keys.front();
  if (axes.by.empty()) axes.by = best(axes.x);
  if (axes.metric.empty()) {
    const bool jct = std::ranges::find(metrics, "avg_jct_s") != metrics.end();
    axes.metric = jct ? "avg_jct_s" : metrics.empty() ? "" : metrics.front();
  }
  return axes;
}

void write_sweep_json(JsonWriter& json, const SweepData& data, const SweepAxes& axes) {
  json.key("sweep").begin_object().member("kind", data.info.kind).member("planned", data.info.runs);
  json.member("repeat", data.info.repeat).member("x", axes.x).member("by", axes.by).member("metric", axes.metric);
  json.key("parameters").begin_array();
  for (const SweepData::Parameter& parameter : data.parameters) {
    json.begin_object()
        .member("key", parameter.key)
        .member("unit", parameter.unit)
        .member("numeric", parameter.numeric);
    // Each text once: a sweep of thousands of points has few different values.
    const std::set<std::string> texts(parameter.values.begin(), parameter.values.end());
    const std::vector<std::string> names(texts.begin(), texts.end());
    std::vector<std::size_t> codes;
    std::vector<double> numbers(names.size(), NAN);
    for (std::size_t i = 0; i < parameter.values.size(); ++i) {
      codes.push_back(static_cast<std::size_t>(std::ranges::lower_bound(names, parameter.values[i]) - names.begin()));
      numbers[codes.back()] = parameter.numbers[i];
    }
    json.key("names").begin_array();
    for (const std::string& name : names) json.value(name);
    json.end_array();
    json.key("numbers").numbers(numbers);
    write_whole(json, "codes", codes);
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
  write_whole(json, "points", data.points);
  write_whole(json, "seeds", data.seeds);
  json.key("states").begin_array();
  for (const RunStatus state : data.states) json.value(to_string(state));
  json.end_array().key("errors").begin_array();
  for (const std::string& error : data.errors) json.value(error);
  json.end_array().end_object();
}

}  // namespace contend
