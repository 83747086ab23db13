#pragma once

#include <cstddef>
#include <string>

namespace contend {

/// How often `part` is in `text`.
inline std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++times;
  return times;
}

}  // namespace contend
