// Defines the part of models/cost_model.hpp that uses measured times.

#include "models/cost_model.hpp"
#include "sim/complaints.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/core.h>
#include <fmt/format.h>

namespace contend {

namespace {

constexpr double kLongestLayer_s = 86'400;

using RowOfLayer = std::map<std::string, const MeasuredLayer*>;

std::string place_of(const MeasuredLayer& row) {
  const std::string at = row.origin.empty() ? std::string{} : row.origin + ": ";
  return fmt::format("{}layer `{}`", at, row.name);
}

void check_time(Complaints& complaints, const MeasuredLayer& row, const char* which, std::optional<double> seconds) {
  if (!seconds || (*seconds > 0 && *seconds <= kLongestLayer_s)) return;
  complaints.add(place_of(row), fmt::format("expected a {} time above 0 and at most a day, got {} s", which, *seconds));
}

std::string unknown_layer_hint(const std::string& name, const std::vector<std::string>& layers) {
  const std::string nearest = nearest_name(name, layers);
  return nearest.empty() ? std::string{} : fmt::format("did you mean \"{}\"?", nearest);
}

// Joins rows and layers by name; complains about rows that are invalid or have no layer.
RowOfLayer join(Complaints& complaints, const std::string& model, const std::vector<std::string>& layers,
                const std::vector<MeasuredLayer>& rows) {
  RowOfLayer joined;
  for (const std::string& layer : layers) joined.emplace(layer, nullptr);
  for (const MeasuredLayer& row : rows) {
    check_time(complaints, row, "forward", row.forward_s);
    check_time(complaints, row, "backward", row.backward_s);
    if (!row.forward_s && !row.backward_s)
      complaints.add(place_of(row), "the row has neither a forward nor a backward time");
    const auto found = joined.find(row.name);
    if (found == joined.end()) {
      complaints.add(place_of(row), fmt::format("model `{}` has no such layer", model),
                     unknown_layer_hint(row.name, layers));
    } else if (std::exchange(found->second, &row) != nullptr) {
      complaints.add(place_of(row), "the layer already has a row");
    }
  }
  return joined;
}

Time time_of(double seconds) {
  return Time::ceil_nanoseconds(seconds * 1e9);
}

std::string origin_of(const MeasuredLayer& row) {
  return row.origin.empty() ? std::string{"measured"} : row.origin;
}

std::vector<std::string> names_of(const std::vector<TimedLayer>& layers) {
  std::vector<std::string> names;
  for (const TimedLayer& layer : layers) names.push_back(layer.name);
  return names;
}

// The layers of the table, without times.
TimedModel untimed(const LayerTable& table, const TableOptions& options) {
  TimedModel model;
  model.name = table.name;
  model.device = options.device;
  model.batch = options.batch;
  model.gradient_element_bytes = options.gradient_element_bytes;
  for (const Layer& layer : table.layers) {
    model.layers.push_back({layer.name, layer.parameters, Time{}, Time{}, "none: not measured by itself"});
  }
  return model;
}

void check_coverage(Complaints& complaints, const LayerTable& table, const RowOfLayer& joined,
                    const TableOptions& options) {
  std::vector<std::string> missing;
  for (const Layer& layer : table.layers) {
    const MeasuredLayer* row = joined.at(layer.name);
    if (row == nullptr) {
      if (!layer.parameters.empty()) missing.push_back(layer.name);
      continue;
    }
    if (!row->backward_s) complaints.add(place_of(*row), "a backward time is missing");
    if (!row->forward_s && !options.forward_share) complaints.add(place_of(*row), "a forward time is missing");
  }
  if (missing.empty()) return;
  constexpr std::size_t kShown = 5;
  const auto end = missing.begin() + static_cast<std::ptrdiff_t>(std::min(missing.size(), kShown));
  complaints.add(fmt::format("model `{}`", table.name),
                 fmt::format("{} layers with parameters have no row: {}{}", missing.size(),
                             fmt::join(missing.begin(), end, ", "), missing.size() > kShown ? ", ..." : ""));
}

}  // namespace

TimedModel replace_times(TimedModel model, const std::vector<MeasuredLayer>& rows) {
  Complaints complaints;
  const RowOfLayer joined = join(complaints, model.name, names_of(model.layers), rows);
  complaints.throw_if_any();
  for (TimedLayer& layer : model.layers) {
    const MeasuredLayer* row = joined.at(layer.name);
    if (row == nullptr) continue;
    const std::string before = std::exchange(layer.origin, origin_of(*row));
    if (!row->backward_s) layer.origin = fmt::format("forward: {}; backward: {}", origin_of(*row), before);
    if (!row->forward_s) layer.origin = fmt::format("forward: {}; backward: {}", before, origin_of(*row));
    if (row->forward_s) layer.forward = time_of(*row->forward_s);
    if (row->backward_s) layer.backward = time_of(*row->backward_s);
  }
  return model;
}

TimedModel table_times(const LayerTable& table, const std::vector<MeasuredLayer>& rows, const TableOptions& options) {
  validate(table);
  Complaints complaints;
  TimedModel model = untimed(table, options);
  const RowOfLayer joined = join(complaints, table.name, names_of(model.layers), rows);
  check_coverage(complaints, table, joined, options);
  if (options.forward_share && !(*options.forward_share > 0 && std::isfinite(*options.forward_share))) {
    complaints.add("forward_share", fmt::format("expected a number above 0, got {}", *options.forward_share));
  }
  complaints.throw_if_any();
  for (TimedLayer& layer : model.layers) {
    const MeasuredLayer* row = joined.at(layer.name);
    if (row == nullptr) continue;
    layer.backward = time_of(*row->backward_s);
    layer.forward = time_of(row->forward_s ? *row->forward_s : *row->backward_s * *options.forward_share);
    layer.origin = origin_of(*row);
    if (!row->forward_s) layer.origin += fmt::format(" (forward: {} of backward)", *options.forward_share);
  }
  validate(model);
  return model;
}

}  // namespace contend
