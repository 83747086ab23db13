#pragma once
// Text of files and users as a terminal may show it.

#include <string>
#include <string_view>

namespace contend {

/// The text in which `\x1b` stands for a byte that is not UTF-8 or belongs to a control character. Line ends and tabs
/// stay.
[[nodiscard]] std::string printable_text(std::string_view text);

}  // namespace contend
