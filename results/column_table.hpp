#pragma once
// A result file as columns: a report shows whatever columns a file has and looks up by name those that it draws.

#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct ColumnTable {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> columns;  ///< by column, then row; as many as names

  [[nodiscard]] std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
  /// The column, or nullptr.
  [[nodiscard]] const std::vector<std::string>* find(std::string_view name) const;
  /// The column as numbers, NaN for an empty field. Throws InputError, naming the file, if there is no such column or a
  /// field is no number.
  [[nodiscard]] std::vector<double> numbers(std::string_view name) const;
  /// The column as text. Throws InputError if there is none.
  [[nodiscard]] const std::vector<std::string>& texts(std::string_view name) const;

  std::string file;  ///< for messages
};

/// Reads a CSV file. Throws InputError.
[[nodiscard]] ColumnTable read_columns(const std::string& path);

/// The number in `text`, NaN if it is empty; throws InputError with `where` in front if it is none.
[[nodiscard]] double number_or_nan(const std::string& text, const std::string& where);

}  // namespace contend
