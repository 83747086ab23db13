#include "results/column_table.hpp"

#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "text/csv.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace contend {

const std::vector<std::string>* ColumnTable::find(std::string_view name) const {
  const auto at = std::ranges::find(names, name);
  return at == names.end() ? nullptr : &columns[static_cast<std::size_t>(at - names.begin())];
}

const std::vector<std::string>& ColumnTable::texts(std::string_view name) const {
  const std::vector<std::string>* column = find(name);
  if (column == nullptr) throw InputError{fmt::format("{}: no column \"{}\"", file, name)};
  return *column;
}

std::vector<double> ColumnTable::numbers(std::string_view name) const {
  std::vector<double> numbers;
  for (const std::string& text : texts(name)) numbers.push_back(number_or_nan(text, fmt::format("{}: {}", file, name)));
  return numbers;
}

ColumnTable read_columns(const std::string& path) {
  CsvTable csv = parse_csv(read_file(path), path);
  ColumnTable table;
  table.file = path;
  table.names = std::move(csv.header);
  table.columns.resize(table.names.size());
  for (CsvRow& row : csv.rows)
    for (std::size_t i = 0; i < row.fields.size(); ++i) table.columns[i].push_back(std::move(row.fields[i]));
  return table;
}

double number_or_nan(const std::string& text, const std::string& where) {
  if (text.empty()) return std::numeric_limits<double>::quiet_NaN();
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end)
    throw InputError{fmt::format("{}: expected a number, got \"{}\"", where, text)};
  return number;
}

}  // namespace contend
