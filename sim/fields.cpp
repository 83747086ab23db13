#include "sim/fields.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace contend {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const auto is_blank = [&](char c) { return kBlanks.find(c) != std::string_view::npos; };
  if (text.empty() || (!is_blank(text.front()) && !is_blank(text.back()))) return text;
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

std::string_view take_field(std::string_view& text, char separator) {
  const std::string_view first = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(first.size() + 1, text.size()));
  return first;
}

std::vector<double> numbers_in(std::string_view text) {
  std::vector<double> numbers;
  while (!text.empty()) {
    const std::string_view word = take_field(text, ' ');
    if (word.empty()) continue;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), numbers.emplace_back());
    CONTEND_CHECK(error == std::errc{} && end == word.data() + word.size(), "the program's own tables hold numbers");
  }
  return numbers;
}

}  // namespace contend
