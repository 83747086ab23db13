#pragma once
// Columns of a CSV table by name, in any order, and what the two kinds of layer tables have in common: times whose unit
// is the end of the column's name, parameter tensors as text, and columns that say the same in every row.

#include "models/layers.hpp"
#include "text/csv.hpp"
#include "text/file_complaints.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

class CsvColumns {
 public:
  /// Complains about columns that are not `known` or appear twice, about `required` ones that are missing, and about a
  /// table without rows; `row` is what there is one of for each.
  CsvColumns(const CsvTable& table, const std::vector<std::string>& known, const std::vector<std::string>& required,
             FileComplaints& complaints, std::string_view row = "layer");

  /// Complains if there is neither a column `parameters` nor `tensors`.
  void need_parameters() const;
  [[nodiscard]] bool has(const std::string& column) const { return index_.contains(column); }
  [[nodiscard]] const std::string& field(const CsvRow& row, const std::string& column) const {
    return row.fields[index_.at(column)];
  }
  /// The value of a column that holds for the whole table; complains where a row disagrees with the first one. Empty
  /// if there is no such column.
  [[nodiscard]] std::string constant(const std::string& column) const;
  /// The column `STEM_ns`, `STEM_us`, `STEM_ms` or `STEM_s`, or an empty string; complains if there are several.
  [[nodiscard]] std::string time_column(std::string_view stem) const;
  [[nodiscard]] Time time(const CsvRow& row, const std::string& column) const;
  [[nodiscard]] std::int64_t whole(const CsvRow& row, const std::string& column, std::int64_t minimum,
                                   std::int64_t maximum) const;
  /// From the columns `tensors`, `parameters` or both; see tensors_text().
  [[nodiscard]] std::vector<ParameterTensor> tensors(const CsvRow& row) const;
  /// The name of the layer; complains if it is empty or was used before.
  [[nodiscard]] std::string layer_name(const CsvRow& row);

 private:
  const CsvTable& table_;
  FileComplaints& complaints_;
  std::map<std::string, std::size_t> index_;
  std::map<std::string, int> line_of_;
};

/// The names of a time column in all its units.
[[nodiscard]] std::vector<std::string> time_columns(std::string_view stem);

/// `weight=[64x3x7x7];bias=64`: names with their shape, or with the number of elements where the shape is unknown.
/// Throws InputError for a name with a semicolon, which could not be read back.
[[nodiscard]] std::string tensors_text(const std::vector<ParameterTensor>& tensors);

}  // namespace contend
