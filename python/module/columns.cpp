#include "python/module/columns.hpp"

#include "results/result_columns.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <limits>
#include <thread>
#include <unordered_map>
#include <utility>

namespace contend {
namespace {

/// Rows whose columns are read together: what they need stays in the cache from one column to the next.
constexpr std::size_t kRowsOfBlock = 256;
/// With as many rows, threads share the columns.
constexpr std::size_t kRowsWorthThreads = 10'000;
/// A column with more texts than this has one for each row.
constexpr std::size_t kMostDistinct = 4096;

/// Gathers the values of one column.
class Gathered {
 public:
  Gathered(std::string_view type, std::size_t rows)
      : is_text_{type == "text"}, is_whole_{type == "integer"}, rows_{rows} {
    if (is_text_)
      codes_.reserve(rows);
    else if (is_whole_)
      wholes_.reserve(rows);
    else
      numbers_.reserve(rows);
  }

  void add(Cell&& cell) {
    if (is_text_)
      add_text(std::holds_alternative<std::string>(cell) ? std::get<std::string>(std::move(cell)) : std::string{});
    else if (is_whole_)
      add_whole(cell);
    else
      numbers_.push_back(number(cell));
  }

  ResultColumn take() && {
    if (is_text_) return TextColumn{std::move(codes_), std::move(texts_)};
    if (is_whole_ && missing_.empty()) return NumberColumn{std::move(wholes_)};
    if (!is_whole_) return NumberColumn{std::move(numbers_)};
    std::vector<double> numbers{wholes_.begin(), wholes_.end()};
    for (const std::size_t row : missing_) numbers[row] = std::numeric_limits<double>::quiet_NaN();
    return NumberColumn{std::move(numbers)};
  }

 private:
  /// The number that is nearest to the decimal one which the files have.
  template <class Count>
  static double seconds(Count ns) {
    constexpr double kPerSecond = 1e9;
    return static_cast<double>(ns) / kPerSecond;
  }

  static double number(const Cell& cell) {
    if (const auto* value = std::get_if<Time>(&cell)) return seconds(value->ns());
    if (const auto* value = std::get_if<double>(&cell)) return *value;
    if (const auto* value = std::get_if<GpuTime>(&cell)) return seconds(value->ns());
    if (const auto* value = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*value);
    return std::numeric_limits<double>::quiet_NaN();
  }

  void add_whole(const Cell& cell) {
    const auto* const value = std::get_if<std::int64_t>(&cell);
    if (value == nullptr) missing_.push_back(wholes_.size());
    wholes_.push_back(value == nullptr ? 0 : *value);
  }

  void add_text(std::string text) {
    if (each_its_own_) return texts_.push_back(std::move(text));
    if (!codes_.empty() && texts_[codes_.back()] == text) return codes_.push_back(codes_.back());
    const auto [found, is_new] = code_of_.try_emplace(std::move(text), static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(found->first);
    codes_.push_back(found->second);
    if (texts_.size() > kMostDistinct) stop_coding();
  }

  void stop_coding() {
    std::vector<std::string> by_row;
    by_row.reserve(rows_);
    for (const std::uint32_t code : codes_) by_row.push_back(texts_[code]);
    texts_ = std::move(by_row);
    codes_ = {};
    code_of_ = {};
    each_its_own_ = true;
  }

  bool is_text_, is_whole_, each_its_own_ = false;
  std::size_t rows_;
  std::vector<double> numbers_;
  std::vector<std::int64_t> wholes_;
  std::vector<std::size_t> missing_;  ///< rows
  std::vector<std::uint32_t> codes_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t> code_of_;
};

/// Calls `use(columns, rows)` with the columns of the table and a function that gives its rows in a run.
template <class Use>
auto with_table(std::string_view table, const Use& use) {
  if (table == "jobs")
    return use(
        job_columns(), [](const RunResult& run) -> auto& { return run.jobs; });
  if (table == "gpus")
    return use(
        gpu_columns(), [](const RunResult& run) -> auto& { return run.gpus; });
  if (table == "links")
    return use(
        link_columns(), [](const RunResult& run) -> auto& { return run.links; });
  CONTEND_CHECK(table == "types", "the caller knows the tables");
  return use(
      type_columns(), [](const RunResult& run) -> auto& { return run.types; });
}

}  // namespace

std::vector<std::string_view> column_names(std::string_view table, std::span<const Replica> replicas) {
  std::vector<std::string_view> names;
  if (table != "jobs" && table != "gpus" && table != "links" && table != "types") return names;
  with_table(table, [&](const auto& columns, const auto& rows_of) {
    for (const auto* const column : shown_columns(columns, replicas, rows_of)) names.push_back(column->name);
  });
  return names;
}

std::size_t row_count(std::string_view table, std::span<const Replica> replicas) {
  std::size_t rows = 0;
  with_table(table, [&](const auto&, const auto& rows_of) {
    for (const Replica& replica : replicas) rows += rows_of(replica.result).size();
  });
  return rows;
}

std::vector<ResultColumn> columns_of(std::string_view table, const std::vector<std::string>& names,
                                     std::span<const Replica> replicas) {
  std::vector<Gathered> gathered;
  const std::size_t total = row_count(table, replicas);
  with_table(table, [&](const auto& columns, const auto& rows_of) {
    std::vector<std::size_t> wanted;
    for (const std::string& name : names) {
      const auto found = std::ranges::find_if(columns, [&](const auto& each) { return each.name == name; });
      CONTEND_CHECK(found != columns.end(), "the caller knows the columns");
      wanted.push_back(static_cast<std::size_t>(found - columns.begin()));
      gathered.emplace_back(found->type, total);
    }
    const std::size_t threads =
        total < kRowsWorthThreads ? 1 : std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, wanted.size());
    const auto gather = [&](std::size_t first) {
      for (const Replica& replica : replicas) {
        const auto& rows = rows_of(replica.result);
        for (std::size_t begin = 0; begin < rows.size(); begin += kRowsOfBlock) {
          const std::size_t end = std::min(begin + kRowsOfBlock, rows.size());
          for (std::size_t i = first; i < wanted.size(); i += threads)
            for (std::size_t row = begin; row < end; ++row) gathered[i].add(columns[wanted[i]].value(rows[row]));
        }
      }
    };
    std::vector<std::jthread> helpers;
    for (std::size_t first = 1; first < threads; ++first) helpers.emplace_back(gather, first);
    gather(0);
  });
  std::vector<ResultColumn> result;
  for (Gathered& each : gathered) result.push_back(std::move(each).take());
  return result;
}

}  // namespace contend
