#include "results/column_table.hpp"

#include "sim/error.hpp"
#include "text/byte_source.hpp"
#include "text/csv.hpp"
#include "text/file_complaints.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>

#include <fmt/format.h>

namespace contend {

const PackedColumn* ColumnTable::find(std::string_view name) const {
  const auto at = std::ranges::find(names, name);
  return at == names.end() ? nullptr : &columns[static_cast<std::size_t>(at - names.begin())];
}

const PackedColumn& ColumnTable::texts(std::string_view name) const {
  const PackedColumn* column = find(name);
  if (column == nullptr) throw InputError{fmt::format("{}: no column \"{}\"", file, name)};
  return *column;
}

std::vector<double> ColumnTable::numbers(std::string_view name) const {
  const PackedColumn& column = texts(name);
  const std::string where = fmt::format("{}: {}", file, name);
  std::vector<double> numbers;
  numbers.reserve(column.size());
  for (std::size_t row = 0; row < column.size(); ++row) numbers.push_back(number_or_nan(column[row], where));
  return numbers;
}

ColumnTable read_columns(const std::string& path) {
  const std::unique_ptr<ByteSource> source = open_bytes(path);
  FileComplaints complaints{path};
  CsvRows rows{*source, complaints};
  ColumnTable table;
  table.file = path;
  table.names = rows.header();
  table.columns.resize(table.names.size());
  while (rows.next())
    for (std::size_t i = 0; i < table.columns.size(); ++i) table.columns[i].push_back(rows.fields()[i]);
  complaints.throw_if_any();
  return table;
}

double number_or_nan(std::string_view text, std::string_view where) {
  if (text.empty()) return std::numeric_limits<double>::quiet_NaN();
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end)
    throw InputError{fmt::format("{}: expected a number, got \"{}\"", where, text)};
  return number;
}

}  // namespace contend
