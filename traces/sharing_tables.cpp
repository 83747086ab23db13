#include "traces/sharing_tables.hpp"

#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "text/file_complaints.hpp"
#include "traces/jobs/trace_table.hpp"
#include "traces/named_columns.hpp"

#include <array>
#include <charconv>
#include <numeric>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::array<std::string_view, 6> kPairColumns = {"model", "with_model", "speed", "with_speed", "gpus", "type"};
constexpr std::array<std::string_view, 6> kStageColumns = {"model", "storage", "cpu", "gpu", "network", "gpus"};
constexpr std::size_t kFirstStage = 1, kRequiredPairColumns = 4, kRequiredStageColumns = 5;
constexpr double kLongestStage = 1e12;

/// Rows of a table by the names of its columns.
template <std::size_t kCount>
class NamedRows {
 public:
  NamedRows(const CsvTable& table, const std::string& file, const std::array<std::string_view, kCount>& names,
            std::size_t required)
      : complaints_{file}, names_{names} {
    columns_ = find_named_columns(table, names, complaints_, required);
    if (table.rows.empty() && complaints_.empty()) complaints_.add({1, 0}, "", "the table has no rows");
    complaints_.throw_if_any();
  }

  /// The text of a column; empty if the table doesn't have it.
  [[nodiscard]] std::string text(const CsvRow& row, std::size_t column) const {
    return columns_[column] == kNoColumn ? std::string{} : row.fields[columns_[column]];
  }
  [[nodiscard]] std::string name(const CsvRow& row, std::size_t column) {
    if (text(row, column).empty()) bad(row, column, "expected a name, got nothing");
    return text(row, column);
  }
  /// 0 for an empty field.
  [[nodiscard]] int gpus(const CsvRow& row, std::size_t column) {
    const std::string field = text(row, column);
    int gpus = 0;
    if (field.empty()) return 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), gpus);
    if (error != std::errc{} || end != field.data() + field.size() || gpus < 1 || gpus > TraceTable::kMaxGpus)
      bad(row, column,
          fmt::format("expected a whole number from 1 to {}, or nothing, got {}", TraceTable::kMaxGpus,
                      quote_for_message(field)));
    return gpus;
  }
  [[nodiscard]] double number(const CsvRow& row, std::size_t column, double maximum) {
    const std::string field = text(row, column);
    double number = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
    if (error != std::errc{} || end != field.data() + field.size() || !(number >= 0 && number <= maximum))
      bad(row, column, fmt::format("expected a number from 0 to {:g}, got {}", maximum, quote_for_message(field)));
    return number;
  }
  void bad(const CsvRow& row, std::size_t column, std::string reason) {
    complaints_.add({row.line, 0}, std::string{names_[column]}, std::move(reason));
  }
  void throw_if_any() { complaints_.throw_if_any(); }

 private:
  FileComplaints complaints_;
  const std::array<std::string_view, kCount>& names_;
  std::array<std::size_t, kCount> columns_{};
};

}  // namespace

PairTable parse_pairs(std::string_view text, const std::string& name) {
  const CsvTable table = parse_csv(text, name);
  NamedRows rows{table, name, kPairColumns, kRequiredPairColumns};
  PairTable pairs;
  for (const CsvRow& row : table.rows) {
    const std::string first = rows.name(row, 0), second = rows.name(row, 1), type = rows.text(row, 5);
    const double speed = rows.number(row, 2, 1), with_speed = rows.number(row, 3, 1);
    const int gpus = rows.gpus(row, 4);
    if ((speed == 0) != (with_speed == 0)) rows.bad(row, 3, "one of them can't run beside the other, which can");
    if (first == second && speed != with_speed) rows.bad(row, 3, "two jobs of one model with different speeds");
    const bool is_new = pairs.try_emplace({first, second, gpus, type}, speed).second;
    if (first != second) pairs.try_emplace({second, first, gpus, type}, with_speed);
    if (!is_new) rows.bad(row, 1, "the pair is in the table already");
  }
  rows.throw_if_any();
  return pairs;
}

PairTable read_pairs(const std::string& path) {
  return parse_pairs(read_file(path), path);
}

StageTable parse_stages(std::string_view text, const std::string& name) {
  const CsvTable table = parse_csv(text, name);
  NamedRows rows{table, name, kStageColumns, kRequiredStageColumns};
  StageTable profiles;
  for (const CsvRow& row : table.rows) {
    StageTimes stages{};
    for (std::size_t s = 0; s < stages.size(); ++s) stages[s] = rows.number(row, kFirstStage + s, kLongestStage);
    if (std::accumulate(stages.begin(), stages.end(), 0.0) == 0)
      rows.bad(row, kFirstStage, "an iteration that takes no time");
    if (!profiles.try_emplace({rows.name(row, 0), rows.gpus(row, 5)}, stages).second)
      rows.bad(row, 0, "the model has a row for as many GPUs already");
  }
  rows.throw_if_any();
  return profiles;
}

StageTable read_stages(const std::string& path) {
  return parse_stages(read_file(path), path);
}

}  // namespace contend
