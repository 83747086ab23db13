#include "cli/text_table.hpp"

#include "cli/output.hpp"
#include "results/paired_change.hpp"
#include "results/regression_rules.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
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

std::size_t line_width(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
}

/// A part of a text that is not broken, and whether a blank precedes it.
struct Piece {
  std::string text;
  bool after_blank = false;
};

/// Splits text into words; a long word may also be broken after a hyphen or a slash, a very long one (a path of keys)
/// after a dot, and the title of a column after an underscore (memory_GBps).
std::vector<Piece> pieces(const std::string& text, bool is_title) {
  constexpr std::size_t kLongWord = 16, kVeryLongWord = 28;
  std::vector<Piece> all;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    Piece piece{"", start > 0};
    for (std::size_t i = start; i < end; ++i) {
      piece.text += text[i];
      const bool may_break = (end - start > kLongWord && (text[i] == '-' || text[i] == '/')) ||
                             (end - start > kVeryLongWord && text[i] == '.') || (is_title && text[i] == '_');
      if (i + 1 == end || !may_break) continue;
      all.push_back(std::exchange(piece, Piece{}));
    }
    all.push_back(piece);
    start = end + 1;
  }
  return all;
}

/// The widths of a text and of its pieces, which decide how many lines it takes.
struct MeasuredCell {
  MeasuredCell(const std::string& text, bool is_title) : all{width(text)} {
    for (const Piece& piece : contend::pieces(text, is_title)) {
      pieces.emplace_back(width(piece.text), piece.after_blank);
      longest = std::max(longest, pieces.back().first);
    }
  }

  /// As many lines as wrap() makes of the text.
  [[nodiscard]] std::size_t lines(std::size_t limit) const {
    if (all <= limit) return 1;
    std::size_t count = 1, line = 0;
    for (const auto& [piece, after_blank] : pieces) {
      const std::size_t blank = after_blank && line > 0 ? 1 : 0;
      if (line > 0 && line + blank + piece > limit) {
        ++count;
        line = piece;
      } else {
        line += blank + piece;
      }
    }
    return count;
  }

  std::size_t all = 0, longest = 0;
  std::vector<std::pair<std::size_t, bool>> pieces;
};

/// Wraps text to lines of at most `limit`; a longer piece gets a line of its own.
std::vector<std::string> wrap(const std::string& text, std::size_t limit, bool is_title) {
  if (width(text) <= limit) return {text};
  std::vector<std::string> lines{""};
  for (const Piece& piece : pieces(text, is_title)) {
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
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns), least(columns);  // least: of what can't be wrapped
  std::vector<std::vector<MeasuredCell>> cells;
  for (const auto& row : rows_) {
    auto& measured = cells.emplace_back();
    for (std::size_t i = 0; i < columns; ++i) {
      const MeasuredCell& cell = measured.emplace_back(row[i], cells.size() == 1);
      widths[i] = std::max(widths[i], cell.all);
      least[i] = std::max(least[i], is_left(i) ? cell.longest : cell.all);
    }
  }
  std::size_t total = line_width(widths);

  // Lines of each cell at the present widths.
  std::vector<std::vector<std::size_t>> lines(cells.size(), std::vector<std::size_t>(columns, 1));
  const auto lines_if_narrower = [&](std::size_t column) {
    std::size_t all = 0;
    for (std::size_t r = 0; r < cells.size(); ++r) {
      std::size_t most = cells[r][column].lines(widths[column] - 1);
      for (std::size_t i = 0; i < columns; ++i)
        if (i != column) most = std::max(most, lines[r][i]);
      all += most;
    }
    return all;
  };
  // Narrow the column that costs the fewest lines; of equal ones, the widest.
  while (limit > 0 && total > limit) {
    std::size_t best = columns;
    std::tuple<std::size_t, std::size_t> best_cost;
    for (std::size_t i = 0; i < columns; ++i) {
      if (widths[i] <= least[i]) continue;
      const std::tuple cost{lines_if_narrower(i), limit - std::min(limit, widths[i] - 1)};
      if (best == columns || cost < best_cost) {
        best = i;
        best_cost = cost;
      }
    }
    if (best == columns) break;
    --widths[best];
    --total;
    for (std::size_t r = 0; r < cells.size(); ++r) lines[r][best] = cells[r][best].lines(widths[best]);
  }
  return widths;
}

bool Table::is_left(std::size_t column) const {
  return std::find(left_.begin(), left_.end(), column) != left_.end();
}

std::string Table::text() const {
  return text(output_width());
}

std::string Table::text(std::size_t limit) const {
  const std::vector<std::size_t> widths = this->widths(limit);
  const bool fits = limit == 0 || line_width(widths) <= limit;
  return fits || rows_.size() == 1 ? drawn(widths) : transposed(limit);
}

Table Table::turned(std::size_t first, std::size_t count) const {
  const auto line = [&](std::size_t column) {
    std::vector<std::string> cells{rows_.front()[column]};
    for (std::size_t row = first; row < first + count; ++row) cells.push_back(rows_[row][column]);
    return cells;
  };
  Table table{line(0)};
  for (std::size_t column = 1; column < rows_.front().size(); ++column) table.add(line(column));
  return table;
}

std::string Table::transposed(std::size_t limit) const {
  std::string out;
  for (std::size_t first = 1; first < rows_.size();) {
    Table part = turned(first, 1);
    std::size_t count = 1;
    for (; first + count < rows_.size(); ++count) {
      Table larger = turned(first, count + 1);
      if (line_width(larger.widths(limit)) > limit) break;
      part = std::move(larger);
    }
    if (count == 1) part.align_left(1);  // so that a long value is wrapped
    out += (first > 1 ? "\n" : "") + part.drawn(part.widths(limit));
    first += count;
  }
  return out;
}

std::string Table::drawn(const std::vector<std::size_t>& widths) const {
  std::string out;
  for (const auto& row : rows_) {
    std::vector<std::vector<std::string>> cells;
    std::size_t lines = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(is_left(i) ? wrap(row[i], widths[i], &row == &rows_.front()) : std::vector{row[i]});
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

double shown_factor(std::string_view unit) {
  return unit == "share" ? kPercent : 1;
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

std::string ratio_tests_note(std::size_t tests, std::string_view what, std::size_t pairs, bool detectable,
                             std::string_view of) {
  if (tests == 0) return {};
  std::string note =
      fmt::format("p: of a ratio of 1, by two-sided t tests{}; significant up to {}.\n",
                  tests > 1 ? fmt::format(", corrected by Holm for {} {} (the intervals are not: each is of its ratio "
                                          "alone)",
                                          tests, what)
                            : "",
                  kTwoSidedLevel);
  if (detectable)
    note += fmt::format(
        "detectable: beside an interval that contains 1, the smallest change that these {} show in four of five "
        "comparisons.\n",
        of);
  const std::string few = few_pairs_note(pairs, of);
  return few.empty() ? note : note + few + ".\n";
}

std::string p_value_cell(const TestedRatio& ratio) {
  return std::isnan(ratio.p_value) ? "-" : p_value_text(ratio.p_value);
}

std::string detectable_cell(const TestedRatio& ratio) {
  return change_text(metric("avg_jct_s"), true, ratio.detectable);
}

std::string ratio_text(const RatioEstimate& ratio) {
  if (std::isnan(ratio.ratio)) return "-";
  if (std::isnan(ratio.low)) return fmt::format("{:.3f}", ratio.ratio);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", ratio.ratio, ratio.low, ratio.high);
}

std::string microseconds_text(double seconds) {
  constexpr double kMicrosecondsPerSecond = 1e6;
  if (!std::isfinite(seconds)) return "-";
  const double us = seconds * kMicrosecondsPerSecond;
  const int digits = us < 100 ? 2 : us < 10'000 ? 1 : 0;
  return fmt::format("{:.{}f}", us, digits);
}

}  // namespace contend
