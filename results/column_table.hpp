#pragma once
// A result file as columns: a report shows whatever columns a file has, and finds those that it draws by name.

#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct ColumnTable {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> columns;  ///< by column, then row; one for each name

  [[nodiscard]] std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
  /// The column of that name, or nullptr.
  [[nodiscard]] const std::vector<std::string>* find(std::string_view name) const;
  /// The column as numbers; an empty field is NaN. Throws InputError, which names the file, if there is no such column
  /// or a field is not a number.
  [[nodiscard]] std::vector<double> numbers(std::string_view name) const;
  /// The column as text. Throws InputError if there is none.
  [[nodiscard]] const std::vector<std::string>& texts(std::string_view name) const;

  std::string file;  ///< for messages
};

/// Reads a CSV file. Throws InputError.
[[nodiscard]] ColumnTable read_columns(const std::string& path);

/// The number in `text`; NaN if the text is empty. Throws InputError, which begins with `where`, if it is not a number.
[[nodiscard]] double number_or_nan(const std::string& text, const std::string& where);

}  // namespace contend
