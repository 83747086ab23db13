#include "traces/throughputs.hpp"

#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "text/file_complaints.hpp"
#include "traces/jobs/row_report.hpp"
#include "traces/jobs/trace_table.hpp"
#include "traces/named_columns.hpp"

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::array<std::string_view, 5> kThroughputColumns = {"model", "type", "gpus", "iterations_per_s",
                                                                "spread_iterations_per_s"};
constexpr std::size_t kRequiredThroughputColumns = 4;
constexpr double kFastestRate = 1e9;  // iterations/s

class ThroughputReader {
 public:
  ThroughputReader(const CsvTable& table, const std::string& file) : file_{file}, complaints_{file} {
    find(table);
    for (const CsvRow& row : table.rows) read(row);
    complaints_.throw_if_any();
  }
  [[nodiscard]] ThroughputTable table() && { return std::move(table_); }

 private:
  void find(const CsvTable& table) {
    columns_ = find_named_columns(table, kThroughputColumns, complaints_, kRequiredThroughputColumns);
    if (table.rows.empty() && complaints_.empty()) complaints_.add({1, 0}, "", "the table has no rows");
    complaints_.throw_if_any();
  }

  void read(const CsvRow& row) {
    const std::string &model = row.fields[columns_[0]], &type = row.fields[columns_[1]];
    for (const std::size_t name : {0U, 1U})
      if (row.fields[columns_[name]].empty()) bad(row, name, "expected a name, got nothing");
    const std::optional<int> gpus = size(row);
    const Throughput throughput{rate(row, 3), columns_[4] == kNoColumn ? 0 : rate(row, 4)};
    if (throughput.spread > 0 && throughput.together == 0)
      bad(row, 4, "a rate on several servers without one on as few as can hold the job");
    if (model.empty() || type.empty() || !gpus) return;
    const auto [first, is_new] = line_of_.emplace(std::tuple{model, type, *gpus}, row.line);
    if (!is_new)
      return bad(row, 0,
                 fmt::format("the throughput of {} on {} GPUs of type {} is on line {} already",
                             quote_for_message(model), *gpus, quote_for_message(type), first->second));
    table_.add(model, *gpus, type, throughput, file_);
  }

  std::optional<int> size(const CsvRow& row) {
    const std::string& text = row.fields[columns_[2]];
    int gpus = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gpus);
    if (error == std::errc{} && end == text.data() + text.size() && gpus >= 1 && gpus <= TraceTable::kMaxGpus)
      return gpus;
    bad(row, 2,
        fmt::format("expected a whole number from 1 to {}, got {}", TraceTable::kMaxGpus, quote_for_message(text)));
    return std::nullopt;
  }

  double rate(const CsvRow& row, std::size_t name) {
    const std::string& text = row.fields[columns_[name]];
    if (text.empty()) return 0;
    double rate = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
    if (error == std::errc{} && end == text.data() + text.size() && rate >= 0 && rate <= kFastestRate) return rate;
    bad(row, name, fmt::format("expected a number from 0 to {:g}, got {}", kFastestRate, quote_for_message(text)));
    return 0;
  }

  void bad(const CsvRow& row, std::size_t name, std::string reason) {
    complaints_.add({row.line, 0}, std::string{kThroughputColumns[name]}, std::move(reason));
  }

  const std::string& file_;
  FileComplaints complaints_;
  std::array<std::size_t, kThroughputColumns.size()> columns_{};
  std::map<std::tuple<std::string, std::string, int>, int> line_of_;
  ThroughputTable table_;
};

}  // namespace

Throughput ThroughputTable::of(const std::string& model, int gpus, const std::string& type) const {
  const auto row = rows_.find({model, gpus});
  if (row == rows_.end()) return {};
  const auto found = row->second.find(type);
  return found == row->second.end() ? Throughput{} : found->second;
}

std::vector<std::string> ThroughputTable::models() const {
  std::vector<std::string> names;
  for (const auto& [key, types] : rows_)
    if (names.empty() || names.back() != key.first) names.push_back(key.first);
  return names;
}

std::vector<int> ThroughputTable::sizes(const std::string& model) const {
  std::vector<int> sizes;
  for (const auto& [key, types] : rows_)
    if (key.first == model) sizes.push_back(key.second);
  return sizes;
}

ThroughputTable parse_throughputs(std::string_view text, const std::string& name) {
  return ThroughputReader{parse_csv(text, name), name}.table();
}

ThroughputTable read_throughputs(const std::string& path) {
  return parse_throughputs(read_file(path), path);
}

}  // namespace contend
