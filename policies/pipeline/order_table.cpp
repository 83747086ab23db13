#include "policies/pipeline/order_table.hpp"

#include "sim/fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kSteps = {
    {{"F", "F"}, {"B", "B"}, {"I", "Bi"}, {"W", "W"}}};
constexpr std::array<std::string_view, 7> kMoves = {"UNSHARD", "RESHARD", "REDUCE_GRAD", "SEND_F",
                                                    "RECV_F",  "SEND_B",  "RECV_B"};
constexpr std::string_view kMerged = ")OVERLAP_F_B";

/// `STAGE KIND MICRO_BATCH` without blanks; without a micro-batch where none is there.
struct TableAction {
  int stage = 0;
  std::string_view kind;
  std::optional<int> micro_batch;
};

/// Takes digits from the front.
std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<TableAction> action_of(std::string_view text) {
  TableAction action;
  const std::optional<int> stage = take_number(text);
  if (!stage) return std::nullopt;
  action.stage = *stage;
  action.kind = text.substr(0, text.find_first_of("0123456789"));
  text.remove_prefix(action.kind.size());
  if (text.empty()) return action;
  action.micro_batch = take_number(text);
  return action.micro_batch && text.empty() ? std::optional{action} : std::nullopt;
}

bool is_move(const TableAction& action) {
  return std::ranges::find(kMoves, action.kind) != kMoves.end();
}

class TableReader {
 public:
  explicit TableReader(int ranks) : ranks_{ranks} {}

  OrderTable read(std::string_view text) {
    take_rows(text);
    if (is_v_) table_.cells.insert(table_.cells.begin(), {{"layout", 1, 1}, {"v", 1, 1}});
    for (auto& [rank, cell] : rows_) {
      if (cell.text == "rank") {
        table_.cells.push_back(cell);
        table_.cells.push_back({fmt::format("{}:", rank), cell.line, cell.column});
      } else if (std::optional<std::string> word = word_of(rank, cell.text); !word) {
        table_.cells.push_back(cell);
      } else if (!word->empty()) {
        table_.cells.push_back({std::move(*word), cell.line, cell.column});
      }
    }
    return std::move(table_);
  }

 private:
  /// Cuts the text into cells, and finds the layout.
  void take_rows(std::string_view text) {
    while (!text.empty() && std::string_view{" \t\r\n"}.find(text.back()) != std::string_view::npos)
      text.remove_suffix(1);
    for (int rank = 0; !text.empty(); ++rank) {
      std::string_view row = take_field(text, '\n');
      const char* const begin = row.data();
      if (row.ends_with('\r')) row.remove_suffix(1);
      rows_.emplace_back(rank, OrderTable::Cell{"rank", rank + 1, 1});
      while (!row.empty()) {
        const std::string_view field = take_field(row, ',');
        std::string_view cell = trimmed(field);
        if (cell.size() > 1 && cell.front() == '"' && cell.back() == '"') cell = cell.substr(1, cell.size() - 2);
        if (cell.empty()) continue;
        rows_.emplace_back(rank,
                           OrderTable::Cell{std::string{cell}, rank + 1, static_cast<int>(cell.data() - begin) + 1});
        if (const auto action = action_of(cell)) is_v_ = is_v_ || is_only_of_v(rank, action->stage);
      }
    }
  }

  [[nodiscard]] bool is_only_of_v(int rank, int stage) const {
    return stage % ranks_ != rank && stage == 2 * ranks_ - 1 - rank;
  }

  /// The cell as a word; an empty one if it only moves data; none if it is no step of the rank.
  [[nodiscard]] std::optional<std::string> word_of(int rank, std::string_view cell) const {
    if (cell.starts_with('(') && cell.ends_with(kMerged)) {
      const std::string_view both = cell.substr(1, cell.size() - 1 - kMerged.size());
      const std::size_t middle = both.find(';');
      if (middle == std::string_view::npos) return std::nullopt;
      const std::optional<std::string> first = word_of(rank, trimmed(both.substr(0, middle)));
      const std::optional<std::string> second = word_of(rank, trimmed(both.substr(middle + 1)));
      if (!first || !second || first->empty() || second->empty()) return std::nullopt;
      return fmt::format("{}+{}", *first, *second);
    }
    const std::optional<TableAction> action = action_of(cell);
    if (!action) return std::nullopt;
    if (is_move(*action)) return std::string{};
    const auto kind = std::ranges::find(kSteps, action->kind, &std::pair<std::string_view, std::string_view>::first);
    const std::optional<int> chunk = chunk_of(rank, action->stage);
    if (kind == kSteps.end() || !action->micro_batch || !chunk) return std::nullopt;
    return fmt::format("{}{}.{}", kind->second, *action->micro_batch, *chunk);
  }

  [[nodiscard]] std::optional<int> chunk_of(int rank, int stage) const {
    if (is_v_)
      return stage == rank ? std::optional{0} : stage == 2 * ranks_ - 1 - rank ? std::optional{1} : std::nullopt;
    return stage % ranks_ == rank ? std::optional{stage / ranks_} : std::nullopt;
  }

  int ranks_;
  bool is_v_ = false;
  std::vector<std::pair<int, OrderTable::Cell>> rows_;  ///< ranks and what their rows have, each after a cell `rank`
  OrderTable table_;
};

}  // namespace

bool is_order_table(std::string_view text) {
  const std::string_view first = text.substr(0, text.find_first_of("\r\n"));
  const std::size_t begin = first.find_first_not_of(" \t");
  return begin != std::string_view::npos &&
         std::string_view{"0123456789(,\""}.find(first[begin]) != std::string_view::npos;
}

OrderTable read_order_table(std::string_view text, int ranks) {
  return TableReader{ranks}.read(text);
}

}  // namespace contend
