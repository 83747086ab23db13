#include "cli/text_table.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// Width in code points, which is right for everything printed here (±, names in Latin script); bytes would misalign.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

constexpr std::size_t kGap = 2;

/// A part of a text that is not broken, and whether a blank precedes it.
struct Piece {
  std::string text;
  bool after_blank = false;
};

/// Splits text into words; a long word may also be broken after a hyphen or a slash, a very long one (a path of keys)
/// after a dot.
std::vector<Piece> pieces(const std::string& text) {
  constexpr std::size_t kLongWord = 16, kVeryLongWord = 28;
  std::vector<Piece> all;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    Piece piece{"", start > 0};
    for (std::size_t i = start; i < end; ++i) {
      piece.text += text[i];
      const bool may_break = (end - start > kLongWord && (text[i] == '-' || text[i] == '/')) ||
                             (end - start > kVeryLongWord && text[i] == '.');
      if (i + 1 == end || !may_break) continue;
      all.push_back(std::exchange(piece, Piece{}));
    }
    all.push_back(piece);
    start = end + 1;
  }
  return all;
}

std::size_t longest_piece(const std::string& text) {
  std::size_t longest = 0;
  for (const Piece& piece : pieces(text)) longest = std::max(longest, width(piece.text));
  return longest;
}

/// Wraps text to lines of at most `limit`; a longer piece gets a line of its own.
std::vector<std::string> wrap(const std::string& text, std::size_t limit) {
  if (width(text) <= limit) return {text};
  std::vector<std::string> lines{""};
  for (const Piece& piece : pieces(text)) {
    const bool blank = piece.after_blank && !lines.back().empty();
    if (!lines.back().empty() && width(lines.back()) + (blank ? 1 : 0) + width(piece.text) > limit) {
      lines.push_back(piece.text);
    } else {
      lines.back() += (blank ? " " : "") + piece.text;
    }
  }
  return lines;
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  CONTEND_CHECK(cells.size() == rows_.front().size(), "a row has a cell for each column");
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths(std::size_t limit) const {
  std::vector<std::size_t> widths(rows_.front().size());
  std::vector<std::size_t> least = widths;  // of what can't be wrapped
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width(row[i]));
      least[i] = std::max(least[i], is_left(i) ? longest_piece(row[i]) : width(row[i]));
    }
  }
  std::size_t total = kGap * (widths.size() - 1);
  for (const std::size_t each : widths) total += each;
  // Narrow the column that costs the fewest lines; of equal ones, the widest.
  while (limit > 0 && total > limit) {
    std::size_t best = widths.size();
    std::tuple<std::size_t, std::size_t> best_cost;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] <= least[i]) continue;
      --widths[i];
      const std::tuple cost{lines(widths), limit - std::min(limit, widths[i])};
      ++widths[i];
      if (best == widths.size() || cost < best_cost) {
        best = i;
        best_cost = cost;
      }
    }
    if (best == widths.size()) break;
    --widths[best];
    --total;
  }
  return widths;
}

std::size_t Table::lines(const std::vector<std::size_t>& widths) const {
  std::size_t all = 0;
  for (const auto& row : rows_) {
    std::size_t lines = 1;
    for (std::size_t i = 0; i < row.size(); ++i)
      if (is_left(i)) lines = std::max(lines, wrap(row[i], widths[i]).size());
    all += lines;
  }
  return all;
}

bool Table::is_left(std::size_t column) const {
  return std::find(left_.begin(), left_.end(), column) != left_.end();
}

std::string Table::text(std::size_t limit) const {
  const std::vector<std::size_t> widths = this->widths(limit);
  std::string out;
  for (const auto& row : rows_) {
    std::vector<std::vector<std::string>> cells;
    std::size_t lines = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(is_left(i) ? wrap(row[i], widths[i]) : std::vector{row[i]});
      lines = std::max(lines, cells.back().size());
    }
    for (std::size_t number = 0; number < lines; ++number) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string cell = number < cells[i].size() ? cells[i][number] : std::string{};
        const std::string padding(widths[i] - width(cell), ' ');
        if (i > 0) line += std::string(kGap, ' ');
        line += is_left(i) ? cell + padding : padding + cell;
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + '\n';
    }
    if (&row != &rows_.front()) continue;
    for (std::size_t i = 0; i < widths.size(); ++i) out += (i > 0 ? "  " : "") + std::string(widths[i], '-');
    out += '\n';
  }
  return out;
}

std::vector<std::string> format_column(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  const int magnitude = largest > 0 ? static_cast<int>(std::floor(std::log10(largest))) : 0;
  const int decimals = std::clamp(4 - magnitude, 0, 9);
  std::vector<std::string> cells;
  for (const double value : values)
    cells.push_back(std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "-");
  return cells;
}

}  // namespace contend
