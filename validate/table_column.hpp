#pragma once
// A column of a table that a trace comes in.

#include "sim/error.hpp"
#include "text/csv.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace contend {

/// A column of a table, by its name. Throws InputError if there is none.
class TableColumn {
 public:
  TableColumn(const CsvTable& table, std::string_view name)
      : index_{static_cast<std::size_t>(std::ranges::find(table.header, name) - table.header.begin())} {
    if (index_ == table.header.size()) throw InputError{fmt::format("a trace has no column `{}`", name)};
  }
  [[nodiscard]] const std::string& text(const CsvRow& row) const { return row.fields.at(index_); }
  [[nodiscard]] double number(const CsvRow& row) const { return std::strtod(text(row).c_str(), nullptr); }
  [[nodiscard]] int whole(const CsvRow& row) const { return static_cast<int>(number(row)); }

 private:
  std::size_t index_;
};

}  // namespace contend
