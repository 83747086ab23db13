#include "text/words.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

namespace contend {

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  // A longer word is not a misspelt name, and its edit distance would take long to compute.
  constexpr std::size_t kLongestName = 64;
  const std::string nearest = word.size() <= kLongestName ? nearest_name(word, names) : std::string{};
  return nearest.empty() ? std::string{} : fmt::format("did you mean \"{}\"?", nearest);
}

}  // namespace contend
