#include "traces/layers/layer_table_csv.hpp"

#include "text/byte_source.hpp"
#include "text/csv.hpp"
#include "text/decimal.hpp"
#include "text/words.hpp"
#include "traces/layers/csv_columns.hpp"
#include "traces/layers/layer_options.hpp"
#include "traces/layers/layer_quantities.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using Geometry = LayerGeometry;

constexpr std::array kKinds{LayerKind::convolution, LayerKind::linear,     LayerKind::embedding,
                            LayerKind::attention,   LayerKind::recurrent,  LayerKind::normalization,
                            LayerKind::pooling,     LayerKind::activation, LayerKind::elementwise};
constexpr std::array<std::pair<std::string_view, LayerOperation>, 4> kOperations{
    {{"convolution", LayerOperation::convolution},
     {"linear", LayerOperation::linear},
     {"attention_scores", LayerOperation::attention_scores},
     {"fused_attention", LayerOperation::fused_attention}}};
constexpr std::array<std::pair<std::string_view, std::int64_t Geometry::*>, 14> kSizes{
    {{"channels", &Geometry::channels},
     {"height", &Geometry::height},
     {"width", &Geometry::width},
     {"out_channels", &Geometry::out_channels},
     {"window_height", &Geometry::window_height},
     {"window_width", &Geometry::window_width},
     {"stride", &Geometry::stride},
     {"pad_height", &Geometry::pad_height},
     {"pad_width", &Geometry::pad_width},
     {"heads", &Geometry::heads},
     {"queries", &Geometry::queries},
     {"keys", &Geometry::keys},
     {"head_size", &Geometry::head_size},
     {"key_heads", &Geometry::key_heads}}};
constexpr std::int64_t kMaxSize = 1 << 20;  ///< so that products of two of them and a batch fit 64 bits
constexpr std::int64_t kMaxFlops = std::int64_t{1}
                                   << 61;  ///< of a whole table and pass, so that their sums fit 64 bits

/// Flops of the forward pass of a sample that has these sizes.
double flops_of(const Geometry& sizes, std::int64_t outputs) {
  const auto product = [](auto... factors) { return (static_cast<double>(factors) * ... * 2.0); };
  switch (sizes.operation) {
    case LayerOperation::convolution:
      return product(outputs, sizes.channels, sizes.window_height, sizes.window_width);
    case LayerOperation::linear:
      return product(sizes.height, sizes.width, sizes.channels, sizes.out_channels);
    case LayerOperation::fused_attention:
      return 2 * product(sizes.heads, sizes.queries, sizes.keys, sizes.head_size);
    default:
      return product(sizes.heads, sizes.queries, sizes.keys, sizes.head_size);
  }
}

class LayerTableReader {
 public:
  LayerTableReader(const CsvTable& table, CsvColumns& columns, FileComplaints& complaints)
      : columns_{columns},
        complaints_{complaints},
        most_flops_{kMaxFlops / std::max<std::int64_t>(1, static_cast<std::int64_t>(table.rows.size()))} {}

  Layer read(const CsvRow& row) {
    Layer layer;
    layer.name = columns_.layer_name(row);
    layer.kind = read_kind(row);
    layer.parameters = columns_.tensors(row);
    layer.shared_elements = optional(row, "shared_parameters", 0, 0, kMaxElements);
    layer.forward_flops = columns_.whole(row, "forward_flops", 0, most_flops_);
    layer.input_gradient_flops = columns_.whole(row, "input_gradient_flops", 0, most_flops_);
    layer.weight_gradient_flops = columns_.whole(row, "weight_gradient_flops", 0, most_flops_);
    layer.input_elements = columns_.whole(row, "input_elements", 0, kMaxElements);
    layer.output_elements = columns_.whole(row, "output_elements", 0, kMaxElements);
    layer.input_reads = static_cast<int>(optional(row, "input_reads", 1, 1, 1000));
    layer.kernels = static_cast<int>(optional(row, "kernels", 1, 1, 1'000'000));
    layer.input_needs_gradient = optional(row, "input_needs_gradient", 1, 0, 1) == 1;
    if (columns_.has("geometry") && !columns_.field(row, "geometry").empty())
      layer.geometry = read_geometry(row, layer);
    return layer;
  }

 private:
  std::int64_t optional(const CsvRow& row, const std::string& column, std::int64_t fallback, std::int64_t minimum,
                        std::int64_t maximum) {
    return columns_.has(column) ? columns_.whole(row, column, minimum, maximum) : fallback;
  }

  LayerKind read_kind(const CsvRow& row) {
    const std::string& text = columns_.field(row, "kind");
    std::vector<std::string> names;
    for (const LayerKind kind : kKinds) {
      if (to_string(kind) == text) return kind;
      names.emplace_back(to_string(kind));
    }
    complaints_.add({row.line, 0}, "kind", fmt::format("expected {}, got \"{}\"", join(names, " or "), text),
                    did_you_mean(text, names));
    return LayerKind::elementwise;
  }

  std::optional<Geometry> read_geometry(const CsvRow& row, const Layer& layer) {
    const auto complain = [&](std::string reason) {
      complaints_.add({row.line, 0}, "geometry", std::move(reason), "such as linear channels=512 out_channels=2048");
      return std::nullopt;
    };
    std::istringstream words{columns_.field(row, "geometry")};
    std::string word;
    words >> word;
    const auto* const operation = std::ranges::find(kOperations, word, [](const auto& each) { return each.first; });
    if (operation == kOperations.end()) return complain(fmt::format("unknown operation \"{}\"", word));
    Geometry sizes{.operation = operation->second};
    while (words >> word) {
      const std::size_t equals = word.find('=');
      const std::string name = word.substr(0, equals);
      const ScaledDecimal size = parse_integer(equals == std::string::npos ? "" : word.substr(equals + 1));
      const auto* const member = std::ranges::find(kSizes, name, [](const auto& each) { return each.first; });
      const bool is_flag = name == "causal", may_be_0 = is_flag || name.starts_with("pad_") || name == "key_heads";
      const bool is_size = size.error == DecimalError::none && size.value >= (may_be_0 ? 0 : 1) &&
                           size.value <= (is_flag ? 1 : kMaxSize);
      if (!is_size || (member == kSizes.end() && !is_flag)) return complain(fmt::format("\"{}\" is no size", word));
      if (is_flag)
        sizes.causal = size.value == 1;
      else
        sizes.*(member->second) = size.value;
    }
    const double flops = flops_of(sizes, layer.output_elements), stated = static_cast<double>(layer.forward_flops);
    if (std::abs(flops - stated) > 1e-9 * stated)  // beyond what rounding to a double explains
      return complain(fmt::format("its sizes make {:.0f} flops, but forward_flops is {}", flops, layer.forward_flops));
    return sizes;
  }

  CsvColumns& columns_;
  FileComplaints& complaints_;
  std::int64_t most_flops_;
};

}  // namespace

LayerTable parse_layer_table(std::string_view text, const std::string& file) {
  static const std::vector<std::string> kRequired{
      "layer",          "kind",           "forward_flops", "input_gradient_flops", "weight_gradient_flops",
      "input_elements", "output_elements"};
  std::vector<std::string> known{"model",
                                 "sample",
                                 "tensors",
                                 "parameters",
                                 "shared_parameters",
                                 "input_reads",
                                 "kernels",
                                 "input_needs_gradient",
                                 "geometry"};
  known.insert(known.end(), kRequired.begin(), kRequired.end());
  const CsvTable table = parse_csv(text, file);
  FileComplaints complaints{file};
  CsvColumns columns{table, known, kRequired, complaints};
  columns.need_parameters();
  complaints.throw_if_any();
  LayerTable read;
  read.name = columns.has("model") ? columns.constant("model") : stem_of(file);
  read.source = file;
  read.sample = columns.constant("sample");
  LayerTableReader reader{table, columns, complaints};
  for (const CsvRow& row : table.rows) read.layers.push_back(reader.read(row));
  complaints.throw_if_any();
  validate_read(read, file);
  return read;
}

LayerTable read_layer_table(const std::string& path) {
  const std::unique_ptr<ByteSource> source = open_file(path);
  return parse_layer_table(read_all(*source), path);
}

bool names_layer_table(std::string_view model) {
  return model.ends_with(".csv");
}

}  // namespace contend
