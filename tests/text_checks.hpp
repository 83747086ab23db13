#pragma once
// What tests ask about text.

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace contend {

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// How often `part` is in `text`.
inline std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) ++times;
  return times;
}

inline std::size_t count_lines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace contend
