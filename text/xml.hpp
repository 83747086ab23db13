#pragma once
// Escapes text for XML documents.

#include <string>
#include <string_view>

namespace contend {

/// The text with the characters that have a meaning in XML escaped, quotes included. Control characters, which XML
/// can't represent, become blanks.
[[nodiscard]] std::string xml_text(std::string_view text);

}  // namespace contend
