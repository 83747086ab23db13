#include "traces/batch_rules.hpp"

#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "text/file_complaints.hpp"
#include "traces/jobs/row_report.hpp"
#include "traces/jobs/trace_table.hpp"
#include "traces/named_columns.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::array<std::string_view, 7> kRuleColumns = {"rule",           "model",      "trains_as",   "gpus",
                                                          "from_iteration", "from_share", "batch_factor"};
constexpr std::size_t kRequiredRuleColumns = 3;
enum RuleColumn : std::size_t { kRule, kRuleModel, kTrainsAs, kRuleGpus, kFromIteration, kFromShare, kBatchFactor };
constexpr double kMostRuleIterations = 1e15, kLargestBatchFactor = 1e9, kSmallestBatchFactor = 1e-9;

class BatchRuleReader {
 public:
  BatchRuleReader(const CsvTable& table, const std::string& file) : complaints_{file} {
    find(table);
    for (const CsvRow& row : table.rows) read(row);
    complaints_.throw_if_any();
  }
  [[nodiscard]] BatchRules rules() && { return std::move(rules_); }

 private:
  void find(const CsvTable& table) {
    columns_ = find_named_columns(table, kRuleColumns, complaints_, kRequiredRuleColumns);
    if (columns_[kFromIteration] == kNoColumn && columns_[kFromShare] == kNoColumn)
      complaints_.add({1, 0}, "", "no column \"from_iteration\" or \"from_share\"");
    if (table.rows.empty() && complaints_.empty()) complaints_.add({1, 0}, "", "the table has no rows");
    complaints_.throw_if_any();
  }

  [[nodiscard]] std::string field(const CsvRow& row, RuleColumn column) const {
    return columns_[column] == kNoColumn ? std::string{} : row.fields[columns_[column]];
  }

  void read(const CsvRow& row) {
    for (const RuleColumn name : {kRule, kRuleModel, kTrainsAs})
      if (field(row, name).empty()) bad(row, name, "expected a name, got nothing");
    const double gpus = number(row, kRuleGpus, 1, TraceTable::kMaxGpus, 0);
    if (gpus != std::floor(gpus))
      bad(row, kRuleGpus, fmt::format("expected a whole number, got {}", quote_for_message(field(row, kRuleGpus))));
    rules_.add(field(row, kRule),
               {.model = field(row, kRuleModel),
                .gpus = static_cast<int>(gpus),
                .from_iteration = number(row, kFromIteration, 0, kMostRuleIterations, 0),
                .from_share = number(row, kFromShare, 0, 1, 0),
                .trains_as = field(row, kTrainsAs),
                .batch_factor = number(row, kBatchFactor, kSmallestBatchFactor, kLargestBatchFactor, 1)});
  }

  double number(const CsvRow& row, RuleColumn column, double minimum, double maximum, double usual) {
    const std::string text = field(row, column);
    if (text.empty()) return usual;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size() && value >= minimum && value <= maximum) return value;
    bad(row, column,
        fmt::format("expected a number from {:g} to {:g}, got {}", minimum, maximum, quote_for_message(text)));
    return usual;
  }

  void bad(const CsvRow& row, RuleColumn column, std::string reason) {
    complaints_.add({row.line, 0}, std::string{kRuleColumns[column]}, std::move(reason));
  }

  FileComplaints complaints_;
  std::array<std::size_t, kRuleColumns.size()> columns_{};
  BatchRules rules_;
};

}  // namespace

std::vector<std::string> BatchRules::names() const {
  std::vector<std::string> names;
  for (const auto& [name, rows] : rules_) names.push_back(name);
  return names;
}

std::vector<TrainingPart> BatchRules::parts_of(const std::string& rule, const std::string& model, int gpus,
                                               double iterations) const {
  std::vector<std::pair<double, const BatchChange*>> changes;  // the share from which each holds
  std::set<double> begins{0};
  if (const auto rows = rules_.find(rule); rows != rules_.end())
    for (const BatchChange& row : rows->second) {
      if (row.model != model || (row.gpus != 0 && row.gpus != gpus)) continue;
      const double from = std::max(row.from_iteration / iterations, row.from_share);
      if (from >= 1) continue;
      changes.emplace_back(from, &row);
      begins.insert(from);
    }
  std::vector<TrainingPart> parts;
  for (const double begin : begins) {
    TrainingPart part{1, model, 1};
    for (const auto& [from, row] : changes)
      if (from <= begin) part = {1, row->trains_as, row->batch_factor};
    if (!parts.empty() && parts.back().trains_as == part.trains_as && parts.back().batch_factor == part.batch_factor)
      continue;
    if (!parts.empty()) parts.back().until = begin;
    parts.push_back(std::move(part));
  }
  return parts;
}

BatchRules parse_batch_rules(std::string_view text, const std::string& name) {
  return BatchRuleReader{parse_csv(text, name), name}.rules();
}

BatchRules read_batch_rules(const std::string& path) {
  return parse_batch_rules(read_file(path), path);
}

}  // namespace contend
