#include "traces/layers/timed_csv.hpp"

#include "text/csv.hpp"
#include "traces/layers/csv_columns.hpp"

#include <climits>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::int64_t kMaxElementBytes = 8;

std::vector<std::string> known_columns() {
  std::vector<std::string> known{"model", "device",     "batch",   "element_bytes",
                                 "layer", "parameters", "tensors", "origin"};
  for (const char* stem : {"forward", "backward"})
    for (std::string& column : time_columns(stem)) known.push_back(std::move(column));
  return known;
}

/// A whole number that holds for the whole table; `fallback` if there is no such column.
int constant_whole(const CsvColumns& columns, const std::string& column, std::int64_t maximum, int fallback,
                   FileComplaints& complaints) {
  if (!columns.has(column)) return fallback;
  return static_cast<int>(read_whole(columns.constant(column), 1, maximum, {2, 0}, column, complaints));
}

std::string microseconds(Time time) {
  std::string text = fmt::format("{}.{:03}", time.ns() / 1000, time.ns() % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

TimedModel parse_timed_csv(std::string_view text, const std::string& file, const LayerReadOptions& options) {
  const CsvTable table = parse_csv(text, file);
  FileComplaints complaints{file};
  CsvColumns columns{table, known_columns(), {"layer"}, complaints};
  const std::string forward = columns.time_column("forward");
  const std::string backward = columns.time_column("backward");
  if (backward.empty()) complaints.add({1, 0}, "", "no column \"backward_us\" (or _ns, _ms, _s)");
  columns.need_parameters();
  complaints.throw_if_any();
  check_options(options, {.forward_ratio = forward.empty(), .batch = !columns.has("batch")}, "timed-layers",
                complaints);

  TimedModel model;
  model.name = columns.has("model") ? columns.constant("model") : stem_of(file);
  model.device = columns.has("device") ? columns.constant("device") : stem_of(file);
  model.batch = constant_whole(columns, "batch", INT_MAX, options.batch.value_or(1), complaints);
  model.gradient_element_bytes = constant_whole(columns, "element_bytes", kMaxElementBytes, 4, complaints);
  for (const CsvRow& row : table.rows) {
    TimedLayer layer;
    layer.name = columns.layer_name(row);
    layer.tensors = columns.tensors(row);
    layer.backward = columns.time(row, backward);
    layer.forward = forward.empty() ? forward_from(layer.backward, options) : columns.time(row, forward);
    if (columns.has("origin")) layer.origin = columns.field(row, "origin");
    if (layer.origin.empty())
      layer.origin = fmt::format("{} line {}{}", file, row.line, forward.empty() ? forward_note(options) : "");
    model.layers.push_back(std::move(layer));
  }
  complaints.throw_if_any();
  validate_read(model, file);
  return model;
}

std::string timed_csv(const TimedModel& model) {
  std::string csv = "model,device,batch,element_bytes,layer,parameters,tensors,forward_us,backward_us,origin\n";
  for (const TimedLayer& layer : model.layers) {
    append_csv_field(csv, model.name);
    csv += ',';
    append_csv_field(csv, model.device);
    csv += fmt::format(",{},{},", model.batch, model.gradient_element_bytes);
    append_csv_field(csv, layer.name);
    std::int64_t parameters = 0;
    for (const ParameterTensor& tensor : layer.tensors) parameters += tensor.elements;
    csv += fmt::format(",{},", parameters);
    append_csv_field(csv, tensors_text(layer.tensors));
    csv += fmt::format(",{},{},", microseconds(layer.forward), microseconds(layer.backward));
    append_csv_field(csv, layer.origin);
    csv += '\n';
  }
  return csv;
}

}  // namespace contend
