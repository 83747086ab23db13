#pragma once
// Parts of a line of text: of a table that the program holds itself, or of a field that a user wrote; and the entries
// and texts of the tables that the program holds itself.

#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// The text without blanks and tabs around it.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// The text up to the separator, all of it if there is none; takes it and the separator off `text`.
[[nodiscard]] std::string_view take_field(std::string_view& text, char separator);
/// The numbers of a text that the program holds itself, with blanks between them. Another text is a broken invariant.
[[nodiscard]] std::vector<double> numbers_in(std::string_view text);

/// An entry of a text that the program holds itself. Its first line is its kind and its name, the lines below are
/// indented: a word and its value. A line that begins with # is a comment. A fault is a broken invariant.
struct TextEntry {
  std::string_view kind, name;
  std::vector<std::pair<std::string_view, std::string_view>> lines;

  [[nodiscard]] bool has(std::string_view word) const;
  [[nodiscard]] std::string_view text(std::string_view word) const;  ///< empty: there is no such line
  [[nodiscard]] std::vector<double> numbers(std::string_view word) const;
  [[nodiscard]] double number(std::string_view word, double otherwise = 0) const;
};
/// The entries of this text, in its order.
[[nodiscard]] std::vector<TextEntry> read_entries(std::string_view text);

/// What is said of names, by lines `name: text` of a text that the program holds itself. A line that begins with # is a
/// comment. A fault is a broken invariant.
class NamedTexts {
 public:
  explicit NamedTexts(std::string_view text);
  /// What is said of the name; a name without a line is a broken invariant.
  [[nodiscard]] std::string_view of(std::string_view name) const;
  [[nodiscard]] const std::map<std::string_view, std::string_view>& all() const { return all_; }

 private:
  std::map<std::string_view, std::string_view> all_;
};

}  // namespace contend
