#include "cli/table.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace contend {
namespace {

/// Code points, which is the width for all that we print (±, names in Latin script); bytes would misalign them.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  CONTEND_CHECK(cells.size() == rows_.front().size(), "a row has a cell for each column");
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width(row[i]), ' ');
      const bool left = std::find(left_.begin(), left_.end(), i) != left_.end();
      if (i > 0) line += "  ";
      line += left ? row[i] + padding : padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
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
