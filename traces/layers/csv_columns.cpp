#include "traces/layers/csv_columns.hpp"

#include "sim/error.hpp"
#include "text/csv_header.hpp"
#include "text/decimal.hpp"
#include "traces/layers/layer_quantities.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

struct Unit {
  std::string_view suffix;
  int decimals;  ///< 10^decimals nanoseconds
};
constexpr std::array<Unit, 4> kUnits = {Unit{"_ns", 0}, Unit{"_us", 3}, Unit{"_ms", 6}, Unit{"_s", 9}};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// A shape `[64x3x7x7]` or a size `9408`; nothing for other text or if it is too large.
std::optional<ParameterTensor> parse_size(std::string_view text) {
  ParameterTensor tensor;
  tensor.elements = 1;
  const bool shaped = text.size() > 2 && text.front() == '[' && text.back() == ']';
  if (shaped) text = text.substr(1, text.size() - 2);
  for (const std::string_view part : shaped ? split(text, 'x') : std::vector{text}) {
    const ScaledDecimal size = parse_integer(part);
    if (size.error != DecimalError::none || size.value < 1 || size.value > kMaxElements / tensor.elements)
      return std::nullopt;
    tensor.elements *= size.value;
    if (shaped) tensor.shape.push_back(size.value);
  }
  return tensor;
}

/// Example values of columns, by the beginning of their names.
constexpr std::pair<std::string_view, std::string_view> kExamples[] = {
    {"layer_idx", "0"},
    {"start_s", "0.5"},
    {"source", "server0/gpu0"},
    {"destination", "server1/gpu0"},
    {"layer", "conv1"},
    {"model", "resnet50"},
    {"device", "A100"},
    {"batch", "32"},
    {"element_bytes", "4"},
    {"parameters", "9408"},
    {"tensors", "weight=[64x3x7x7]"},
    {"params_weight", "9408"},
    {"params_bias", "64"},
    {"bp_us", "240.5"},
    {"comm_us", "310.2"},
    {"collective", "all-reduce"},
    {"ranks", "8"},
    {"jobs", "1"},
    {"bytes", "1048576"},
    {"node_num", "8"},
    {"job_num", "1"},
    {"msg_size", "1048576"},
};
/// 240.5 us in each unit of a time column.
constexpr std::pair<std::string_view, std::string_view> kExampleTimes[] = {
    {"_ns", "240500"}, {"_us", "240.5"}, {"_ms", "0.2405"}, {"_s", "0.0002405"}, {"latency", "240.5"}};

/// An example row for a header, such as `conv1,9408,240.5`; `...` for columns of any content.
std::string example_row(const std::vector<std::string>& header) {
  std::vector<std::string_view> fields;
  for (const std::string& column : header) {
    const auto* const example = std::find_if(std::begin(kExamples), std::end(kExamples),
                                             [&](const auto& each) { return column.starts_with(each.first); });
    const auto* const time = std::find_if(std::begin(kExampleTimes), std::end(kExampleTimes),
                                          [&](const auto& each) { return column.ends_with(each.first); });
    fields.push_back(example != std::end(kExamples)    ? example->second
                     : time != std::end(kExampleTimes) ? time->second
                                                       : "...");
  }
  return fmt::format("{}", fmt::join(fields, ","));
}

}  // namespace

CsvColumns::CsvColumns(const CsvTable& table, const std::vector<std::string>& known,
                       const std::vector<std::string>& required, FileComplaints& complaints, std::string_view row)
    : table_{table}, complaints_{complaints} {
  const TextPlace header{1, 0};
  for (std::size_t i = 0; i < table.header.size(); ++i)
    if (std::ranges::find(known, table.header[i]) != known.end()) index_.emplace(table.header[i], i);
  check_header(table.header, known, required, [&](std::string reason, std::string hint) {
    complaints.add(header, "", std::move(reason), std::move(hint));
  });
  if (table.rows.empty() && complaints.empty())
    complaints.add({2, 0}, "", fmt::format("expected a row for each {} below the header, got none", row),
                   fmt::format("such as {}", example_row(table.header)));
  if (static_cast<std::int64_t>(table.rows.size()) > kMaxLayers)
    complaints.fail(header, "", fmt::format("more than {} {}s", kMaxLayers, row));
}

void CsvColumns::need_parameters() const {
  if (!has("parameters") && !has("tensors")) complaints_.add({1, 0}, "", "no column \"parameters\" (or \"tensors\")");
}

std::string CsvColumns::constant(const std::string& column) const {
  if (!has(column) || table_.rows.empty()) return {};
  const std::string& first = field(table_.rows.front(), column);
  for (const CsvRow& row : table_.rows)
    if (field(row, column) != first)
      complaints_.add({row.line, 0}, column,
                      fmt::format("expected \"{}\" as in the first row, got \"{}\"", first, field(row, column)));
  return first;
}

std::string CsvColumns::time_column(std::string_view stem) const {
  std::string found;
  for (const std::string& name : time_columns(stem)) {
    if (!has(name)) continue;
    if (!found.empty())
      complaints_.add({1, 0}, "", fmt::format("both {} and {} are given; expected one of them", found, name));
    found = name;
  }
  return found;
}

Time CsvColumns::time(const CsvRow& row, const std::string& column) const {
  const auto* const unit =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return column.ends_with(u.suffix); });
  return read_layer_time(field(row, column), unit->decimals, {row.line, 0}, column, complaints_);
}

std::int64_t CsvColumns::whole(const CsvRow& row, const std::string& column, std::int64_t minimum,
                               std::int64_t maximum) const {
  return read_whole(field(row, column), minimum, maximum, {row.line, 0}, column, complaints_);
}

std::vector<ParameterTensor> CsvColumns::tensors(const CsvRow& row) const {
  std::vector<ParameterTensor> tensors;
  if (has("tensors") && !field(row, "tensors").empty()) {
    for (const std::string_view part : split(field(row, "tensors"), ';')) {
      const std::size_t equals = part.rfind('=');
      const std::optional<ParameterTensor> size =
          equals == std::string_view::npos ? std::nullopt : parse_size(part.substr(equals + 1));
      if (!size || equals == 0) {
        complaints_.add({row.line, 0}, "tensors", fmt::format("\"{}\" is no tensor", part),
                        "such as weight=[64x3x7x7] or, with the shape unknown, weight=9408");
        continue;
      }
      tensors.push_back(*size);
      tensors.back().name = part.substr(0, equals);
    }
  }
  if (!has("parameters")) return tensors;
  const std::int64_t stated = whole(row, "parameters", 0, kMaxElements);
  if (!has("tensors")) {
    if (stated > 0) tensors.push_back({.name = "parameters", .elements = stated, .shape = {}});
    return tensors;
  }
  std::int64_t sum = 0;
  for (const ParameterTensor& tensor : tensors) sum += tensor.elements;
  if (sum != stated)
    complaints_.add({row.line, 0}, "parameters", fmt::format("{} is stated, but the tensors hold {}", stated, sum));
  return tensors;
}

std::string CsvColumns::layer_name(const CsvRow& row) {
  std::string name = field(row, "layer");
  if (name.empty())
    complaints_.add({row.line, 0}, "layer", "expected a name, got nothing");
  else if (const auto [first, is_new] = line_of_.emplace(name, row.line); !is_new)
    complaints_.add({row.line, 0}, "layer", fmt::format("\"{}\" was used on line {} already", name, first->second));
  return name;
}

std::vector<std::string> time_columns(std::string_view stem) {
  std::vector<std::string> names;
  for (const Unit& unit : kUnits) names.push_back(fmt::format("{}{}", stem, unit.suffix));
  return names;
}

std::string tensors_text(const std::vector<ParameterTensor>& tensors) {
  std::string text;
  for (const ParameterTensor& tensor : tensors) {
    if (tensor.name.find(';') != std::string::npos)
      throw InputError{fmt::format("tensor \"{}\": a name with a semicolon can't be written to a table", tensor.name)};
    text += fmt::format("{}{}=", text.empty() ? "" : ";", tensor.name);
    if (tensor.shape.empty()) text += std::to_string(tensor.elements);
    for (std::size_t i = 0; i < tensor.shape.size(); ++i)
      text += fmt::format("{}{}", i == 0 ? '[' : 'x', tensor.shape[i]);
    if (!tensor.shape.empty()) text += ']';
  }
  return text;
}

}  // namespace contend
