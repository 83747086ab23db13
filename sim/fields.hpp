#pragma once
// Parts of a line of text: of a table that the program holds itself, or of a field that a user wrote.

#include <string_view>
#include <vector>

namespace contend {

/// The text without blanks and tabs around it.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// The text up to the separator, all of it if there is none; takes it and the separator off `text`.
[[nodiscard]] std::string_view take_field(std::string_view& text, char separator);
/// The numbers of a text that the program holds itself, with blanks between them. Another text is a broken invariant.
[[nodiscard]] std::vector<double> numbers_in(std::string_view text);

}  // namespace contend
