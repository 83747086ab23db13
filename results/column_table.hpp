#pragma once
// A result file as columns: a report shows whatever columns a file has, and finds those that it draws by name.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The fields of a column, one after the other in one text: a million jobs have some 75 million fields.
class PackedColumn {
 public:
  void push_back(std::string_view field) {
    text_ += field;
    ends_.push_back(text_.size());
  }
  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t row) const {
    const std::size_t begin = row == 0 ? 0 : ends_[row - 1];
    return std::string_view{text_}.substr(begin, ends_[row] - begin);
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;  ///< of each field in the text
};

struct ColumnTable {
  std::vector<std::string> names;
  std::vector<PackedColumn> columns;  ///< one for each name

  [[nodiscard]] std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
  /// The column of that name, or nullptr.
  [[nodiscard]] const PackedColumn* find(std::string_view name) const;
  /// The column as numbers; an empty field is NaN. Throws InputError, which names the file, if there is no such column
  /// or a field is not a number.
  [[nodiscard]] std::vector<double> numbers(std::string_view name) const;
  /// The column as text. Throws InputError if there is none.
  [[nodiscard]] const PackedColumn& texts(std::string_view name) const;

  std::string file;  ///< for messages
};

/// Reads a CSV file. Throws InputError.
[[nodiscard]] ColumnTable read_columns(const std::string& path);

/// The number in `text`; NaN if the text is empty. Throws InputError, which begins with `where`, if it is not a number.
[[nodiscard]] double number_or_nan(std::string_view text, std::string_view where);

}  // namespace contend
