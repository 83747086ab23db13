#pragma once
// Numbers with their nouns, for messages.

#include <concepts>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace contend {

/// "1 GPU", "8 GPUs". `plural`: of nouns that take more than an s, such as switches.
[[nodiscard]] std::string counted(std::integral auto number, std::string_view noun, std::string_view plural = {}) {
  if (number == 1) return fmt::format("1 {}", noun);
  return plural.empty() ? fmt::format("{} {}s", number, noun) : fmt::format("{} {}", number, plural);
}

}  // namespace contend
