#pragma once
// Finds the columns of a CSV table by name, in any order, and converts the fields that both kinds of layer tables have:
// times with the unit as suffix of the column name, parameter tensors as text, and columns with the same value in every
// row.

#include "models/layers.hpp"
#include "text/csv.hpp"
#include "text/file_complaints.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

class CsvColumns {
 public:
  /// Reports unknown and duplicate columns, missing `required` ones, and a table without rows; `row` names what a row
  /// describes.
  CsvColumns(const CsvTable& table, const std::vector<std::string>& known, const std::vector<std::string>& required,
             FileComplaints& complaints, std::string_view row = "layer");

  /// Reports a table with neither a column `parameters` nor `tensors`.
  void need_parameters() const;
  [[nodiscard]] bool has(const std::string& column) const { return index_.contains(column); }
  [[nodiscard]] const std::string& field(const CsvRow& row, const std::string& column) const {
    return row.fields[index_.at(column)];
  }
  /// The value of a column that holds for the whole table; reports rows that differ from the first. Empty if there is
  /// no such column.
  [[nodiscard]] std::string constant(const std::string& column) const;
  /// The column `STEM_ns`, `STEM_us`, `STEM_ms` or `STEM_s`, or an empty string; reports several of them.
  [[nodiscard]] std::string time_column(std::string_view stem) const;
  [[nodiscard]] Time time(const CsvRow& row, const std::string& column) const;
  [[nodiscard]] std::int64_t whole(const CsvRow& row, const std::string& column, std::int64_t minimum,
                                   std::int64_t maximum) const;
  /// The tensors from the columns `tensors`, `parameters` or both; see tensors_text().
  [[nodiscard]] std::vector<ParameterTensor> tensors(const CsvRow& row) const;
  /// The name of the layer; reports an empty or repeated one.
  [[nodiscard]] std::string layer_name(const CsvRow& row);

 private:
  const CsvTable& table_;
  FileComplaints& complaints_;
  std::map<std::string, std::size_t> index_;
  std::map<std::string, int> line_of_;
};

/// The names that a time column may have, one for each unit.
[[nodiscard]] std::vector<std::string> time_columns(std::string_view stem);

/// Writes tensors as text, `weight=[64x3x7x7];bias=64`: names with their shape, or with the number of elements if the
/// shape is unknown. Throws InputError for a name with a semicolon, which could not be read back.
[[nodiscard]] std::string tensors_text(const std::vector<ParameterTensor>& tensors);

}  // namespace contend
