#include "traces/layers/table_csv.hpp"

#include "sim/complaints.hpp"
#include "text/byte_source.hpp"
#include "text/csv.hpp"
#include "text/words.hpp"
#include "traces/layers/csv_columns.hpp"
#include "traces/layers/layer_options.hpp"

#include <array>
#include <climits>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::array<LayerKind, 9> kKinds = {LayerKind::convolution, LayerKind::linear,     LayerKind::embedding,
                                             LayerKind::attention,   LayerKind::recurrent,  LayerKind::normalization,
                                             LayerKind::pooling,     LayerKind::activation, LayerKind::elementwise};

/// The whole numbers of a layer with their column names and limits, which keep all sums over a table from overflowing.
struct Amount {
  const char* column;
  std::int64_t Layer::*field;
  bool required;
};
constexpr std::array<Amount, 6> kAmounts = {Amount{"forward_flops", &Layer::forward_flops, true},
                                            Amount{"input_gradient_flops", &Layer::input_gradient_flops, true},
                                            Amount{"weight_gradient_flops", &Layer::weight_gradient_flops, true},
                                            Amount{"input_elements", &Layer::input_elements, true},
                                            Amount{"output_elements", &Layer::output_elements, true},
                                            Amount{"shared_elements", &Layer::shared_elements, false}};
constexpr std::int64_t kMaxAmount = 100'000'000'000'000;
constexpr std::size_t kMaxTableLayers = 40'000;

LayerKind read_kind(const CsvColumns& columns, const CsvRow& row, FileComplaints& complaints) {
  std::vector<std::string> names;
  for (const LayerKind kind : kKinds) {
    if (columns.field(row, "kind") == to_string(kind)) return kind;
    names.emplace_back(to_string(kind));
  }
  const std::string& text = columns.field(row, "kind");
  complaints.add({row.line, 0}, "kind", fmt::format("unknown kind \"{}\"", text), did_you_mean(text, names));
  return LayerKind::elementwise;
}

Layer read_layer(CsvColumns& columns, const CsvRow& row, FileComplaints& complaints) {
  Layer layer;
  layer.name = columns.layer_name(row);
  layer.kind = read_kind(columns, row, complaints);
  layer.parameters = columns.tensors(row);
  for (const Amount& amount : kAmounts)
    if (columns.has(amount.column)) layer.*amount.field = columns.whole(row, amount.column, 0, kMaxAmount);
  if (columns.has("kernels")) layer.kernels = static_cast<int>(columns.whole(row, "kernels", 1, INT_MAX));
  return layer;
}

}  // namespace

LayerTable parse_table_csv(std::string_view text, const std::string& file) {
  const CsvTable csv = parse_csv(text, file);
  FileComplaints complaints{file};
  std::vector<std::string> required{"layer", "kind"};
  std::vector<std::string> known{"layer", "kind", "parameters", "tensors", "kernels", "model", "source", "sample"};
  for (const Amount& amount : kAmounts) {
    known.emplace_back(amount.column);
    if (amount.required) required.emplace_back(amount.column);
  }
  CsvColumns columns{csv, known, required, complaints};
  if (csv.rows.size() > kMaxTableLayers) complaints.add({}, "", fmt::format("more than {} layers", kMaxTableLayers));
  columns.need_parameters();
  complaints.throw_if_any();
  LayerTable table;
  table.name = columns.has("model") ? columns.constant("model") : stem_of(file);
  table.source = columns.has("source") ? columns.constant("source") : file;
  table.sample = columns.constant("sample");
  for (const CsvRow& row : csv.rows) table.layers.push_back(read_layer(columns, row, complaints));
  complaints.throw_if_any();
  try {
    validate(table);
  } catch (const InputError& error) {
    throw amended(error, [&](Complaint& each) { each.file = file; });
  }
  return table;
}

LayerTable read_layer_table(const std::string& path) {
  return parse_table_csv(read_all(*open_file(path)), path);
}

std::string table_csv(const LayerTable& table) {
  std::string csv = "model,source,sample,layer,kind,parameters,tensors";
  for (const Amount& amount : kAmounts) csv += fmt::format(",{}", amount.column);
  csv += ",kernels\n";
  for (const Layer& layer : table.layers) {
    for (const std::string* field : {&table.name, &table.source, &table.sample, &layer.name}) {
      append_csv_field(csv, *field);
      csv += ',';
    }
    csv += fmt::format("{},{},", to_string(layer.kind), layer.parameter_elements());
    append_csv_field(csv, tensors_text(layer.parameters));
    for (const Amount& amount : kAmounts) csv += fmt::format(",{}", layer.*amount.field);
    csv += fmt::format(",{}\n", layer.kernels);
  }
  return csv;
}

}  // namespace contend
