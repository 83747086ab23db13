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

bool TextEntry::has(std::string_view word) const {
  return std::ranges::find(lines, word, &std::pair<std::string_view, std::string_view>::first) != lines.end();
}

std::string_view TextEntry::text(std::string_view word) const {
  const auto found = std::ranges::find(lines, word, &std::pair<std::string_view, std::string_view>::first);
  return found == lines.end() ? std::string_view{} : found->second;
}

std::vector<double> TextEntry::numbers(std::string_view word) const {
  return numbers_in(text(word));
}

double TextEntry::number(std::string_view word, double otherwise) const {
  return has(word) ? numbers(word).at(0) : otherwise;
}

std::vector<TextEntry> read_entries(std::string_view text) {
  std::vector<TextEntry> entries;
  while (!text.empty()) {
    std::string_view line = take_field(text, '\n');
    const bool indented = line.starts_with(' ');
    line = trimmed(line);
    if (line.empty() || line.front() == '#') continue;
    const std::string_view word = take_field(line, ' ');
    CONTEND_CHECK(!indented || !entries.empty(), "a line of a table belongs to an entry");
    if (indented)
      entries.back().lines.emplace_back(word, trimmed(line));
    else
      entries.push_back({word, trimmed(line), {}});
  }
  return entries;
}

NamedTexts::NamedTexts(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = take_field(text, '\n');
    if (line.empty() || line.front() == '#') continue;
    const std::string_view name = take_field(line, ':');
    CONTEND_CHECK(all_.emplace(name, trimmed(line)).second, "a name has one text");
  }
}

std::string_view NamedTexts::of(std::string_view name) const {
  const auto found = all_.find(name);
  if (found == all_.end()) check_failed(__FILE__, __LINE__, "a name of a table has a text", name);
  return found->second;
}

}  // namespace contend
