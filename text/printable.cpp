#include "text/printable.hpp"

#include "text/words.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace contend {
namespace {

/// The length of the character at the front of the text; 0 if no terminal may show it.
std::size_t shown_length(std::string_view text) {
  constexpr std::size_t kLongest = 4;  // bytes of a character in UTF-8
  if (text[0] == '\n' || text[0] == '\t' || text[0] == ' ') return 1;
  for (std::size_t length = 1; length <= std::min(kLongest, text.size()); ++length)
    if (why_not_printable(text.substr(0, length)).empty()) return length;
  return 0;
}

}  // namespace

std::string printable_text(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = shown_length(text);
    if (length == 0)
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else
      shown += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return shown;
}

}  // namespace contend
