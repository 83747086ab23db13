#include "traces/layers/bcaffe.hpp"

#include "text/csv.hpp"
#include "traces/layers/csv_columns.hpp"
#include "traces/layers/layer_quantities.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

struct Row {
  int line = 0;
  std::int64_t elements = 0;
  Time backward;
};

std::string_view trim(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
  const std::size_t end = text.find_last_not_of(" \t\r") + 1;
  return text.substr(begin, end > begin ? end - begin : 0);
}

class LogReader {
 public:
  explicit LogReader(FileComplaints& complaints) : complaints_{complaints} {}

  /// Reads the rows of the last dump.
  std::vector<Row> read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      read_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (dumps_ == 0 && complaints_.empty())
      complaints_.add({}, "", "no line holds a row `[number, elements, backward us, all-reduce us]`");
    if (dumps_ > 1 && rows_.size() != rows_before_)
      complaints_.add(
          {line_, 0}, "",
          fmt::format("dump {} ends after {} rows, the one before has {}", dumps_, rows_.size(), rows_before_));
    complaints_.throw_if_any();
    return std::move(rows_);
  }

 private:
  void read_line(std::string_view line) {
    ++line_;
    line = trim(line);
    // The prefix of a log line ends with `]` too; other messages have no bracket after it.
    const std::size_t begin = line.find("] [");
    if (begin == std::string_view::npos) return;
    const int column = static_cast<int>(begin) + 3;
    line.remove_prefix(begin + 3);
    if (!line.ends_with(']')) {
      complaints_.add({line_, column}, "", "the row is cut off; expected a closing bracket");
      return;
    }
    line.remove_suffix(1);
    std::vector<std::string_view> fields;
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find(',', at), line.size());
      fields.push_back(trim(line.substr(at, end - at)));
      at = end + 1;
    }
    if (fields.size() == 4 || fields.size() == 5)
      read_row(fields, {line_, column});
    else
      complaints_.add({line_, column}, "", fmt::format("expected a row of 4 or 5 numbers, got {}", fields.size()));
  }

  void read_row(const std::vector<std::string_view>& fields, TextPlace place) {
    const std::int64_t number = read_whole(fields[0], 0, 2 * kMaxLayers, place, "parameter", complaints_);
    if (number == 0) {
      rows_before_ = rows_.size();
      rows_.clear();
      ++dumps_;
    }
    if (number != static_cast<std::int64_t>(rows_.size()))
      complaints_.add(place, "parameter", fmt::format("expected row {}, got row {}", rows_.size(), number));
    Row row;
    row.line = line_;
    row.elements = read_whole(fields[1], 1, kMaxElements, place, "elements", complaints_);
    row.backward = read_layer_time(fields[2], kMicroseconds, place, "backward", complaints_);
    static_cast<void>(read_layer_time(fields[3], kMicroseconds, place, "all-reduce", complaints_));
    if (fields.size() == 5) static_cast<void>(read_layer_time(fields[4], kMicroseconds, place, "merged", complaints_));
    rows_.push_back(row);
  }

  FileComplaints& complaints_;
  int line_ = 0;
  int dumps_ = 0;
  std::vector<Row> rows_;
  std::size_t rows_before_ = 0;
};

/// The weight and the bias of a layer, which share a backward time.
struct Pair {
  Row weight;
  Row bias;
};

std::vector<Pair> read_pairs(std::string_view text, FileComplaints& complaints) {
  const std::vector<Row> rows = LogReader{complaints}.read(text);
  if (rows.size() % 2 != 0)
    complaints.add({rows.back().line, 0}, "", "expected a row for the bias behind that for the weight");
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i + 1 < rows.size(); i += 2) {
    if (rows[i].backward != rows[i + 1].backward)
      complaints.add({rows[i + 1].line, 0}, "backward",
                     "expected the time of the row before, as weight and bias of a layer have it");
    pairs.push_back({rows[i], rows[i + 1]});
  }
  complaints.throw_if_any();
  return pairs;
}

TimedModel empty_model(const std::string& file, const LayerReadOptions& options) {
  TimedModel model;
  model.name = stem_of(file);
  model.device = stem_of(file);
  model.batch = options.batch.value_or(1);
  return model;
}

void add_layer(TimedModel& model, std::int64_t weight, std::int64_t bias, Time backward, const std::string& origin,
               const LayerReadOptions& options) {
  TimedLayer layer;
  layer.name = fmt::format("layer{}", model.layers.size());
  if (weight > 0) layer.tensors.push_back({.name = "weight", .elements = weight, .shape = {}});
  if (bias > 0) layer.tensors.push_back({.name = "bias", .elements = bias, .shape = {}});
  layer.backward = backward;
  layer.forward = forward_from(backward, options);
  layer.origin = origin + forward_note(options);
  model.layers.push_back(std::move(layer));
}

/// The names after `bp_us_`; reports columns of other kinds.
std::vector<std::string> measurements(const CsvTable& table, FileComplaints& complaints) {
  std::vector<std::string> names;
  for (const std::string& column : table.header)
    if (column.starts_with("bp_us_")) names.push_back(column.substr(6));
  if (names.empty()) complaints.add({1, 0}, "", "no column \"bp_us_NAME\"");
  return names;
}

}  // namespace

TimedModel parse_bcaffe_log(std::string_view text, const std::string& file, const LayerReadOptions& options) {
  FileComplaints complaints{file};
  check_options(options, {.forward_ratio = true, .batch = true}, "bcaffe-log", complaints);
  TimedModel model = empty_model(file, options);
  for (const Pair& pair : read_pairs(text, complaints))
    add_layer(model, pair.weight.elements, pair.bias.elements, pair.weight.backward,
              fmt::format("{} line {}", file, pair.weight.line), options);
  validate_read(model, file);
  return model;
}

TimedModel parse_bcaffe_csv(std::string_view text, const std::string& file, const LayerReadOptions& options) {
  FileComplaints complaints{file};
  check_options(options, {.select = true, .forward_ratio = true, .batch = true}, "bcaffe-csv", complaints);
  const CsvTable table = parse_csv(text, file);
  std::vector<std::string> known{"layer_idx_forward", "params_weight", "params_bias"};
  std::vector<std::string> times;
  const std::vector<std::string> names = measurements(table, complaints);
  for (const std::string& column : table.header)
    if (column.starts_with("bp_us_") || column.starts_with("comm_us_")) times.push_back(column);
  const std::vector<std::string> required = known;
  known.insert(known.end(), times.begin(), times.end());
  const CsvColumns columns{table, known, required, complaints};
  complaints.throw_if_any();
  const std::string chosen = "bp_us_" + names[choose(options.select, names, complaints)];

  TimedModel model = empty_model(file, options);
  for (const CsvRow& row : table.rows) {
    const auto number = static_cast<std::int64_t>(model.layers.size());
    if (columns.whole(row, "layer_idx_forward", 0, kMaxLayers) != number)
      complaints.add({row.line, 0}, "layer_idx_forward", fmt::format("expected {}, as layers count from 0", number));
    Time backward;
    for (const std::string& column : times) {
      const Time time = read_layer_time(columns.field(row, column), kMicroseconds, {row.line, 0}, column, complaints);
      if (column == chosen) backward = time;
    }
    add_layer(model, columns.whole(row, "params_weight", 0, kMaxElements),
              columns.whole(row, "params_bias", 0, kMaxElements), backward,
              fmt::format("{} line {} {}", file, row.line, chosen), options);
  }
  complaints.throw_if_any();
  validate_read(model, file);
  return model;
}

}  // namespace contend
