#pragma once
// Text inside XML.

#include <string>
#include <string_view>

namespace contend {

/// With what XML gives a meaning to escaped, quotes too; control characters, which XML can't hold, become blanks.
[[nodiscard]] std::string xml_text(std::string_view text);

}  // namespace contend
