#include "scenarios/yaml/yaml_tree.hpp"

#include <algorithm>
#include <filesystem>

namespace contend {
namespace {

constexpr std::size_t kMaxQuotedLine = 160;  // longer lines are cut: nobody reads a caret at column 90 000
constexpr std::size_t kMaxFound = 40;

/// Replaces control characters by spaces, so that a caret below stays in place and a terminal is not affected.
std::string printable(std::string_view text) {
  std::string clean{text};
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return clean;
}

/// At most `limit` bytes of `text`, not ending within a UTF-8 sequence.
std::string_view cut(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
  return text.substr(0, limit);
}

}  // namespace

SourceText::SourceText(std::string name, std::string text, bool is_override)
    : name_{std::move(name)}, text_{std::move(text)}, is_override_{is_override}, line_starts_{0} {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
  }
}

std::string SourceText::folder() const {
  // A file that is open already, such as a pipe, has no folder; neither has an override.
  constexpr std::string_view kOpen[] = {"/dev/stdin", "/dev/fd/", "/proc/self/fd/"};
  const bool is_open = std::ranges::any_of(kOpen, [&](std::string_view each) { return name_.starts_with(each); });
  return is_override_ || is_open ? std::string{} : std::filesystem::path{name_}.parent_path().string();
}

SourceText SourceText::watched(PathWatcher watcher) const {
  SourceText same{name_, {}, is_override_};
  same.watcher_ = std::move(watcher);
  return same;
}

std::string SourceText::line(int number) const {
  if (number < 1 || static_cast<std::size_t>(number) > line_starts_.size()) return {};
  const std::size_t start = line_starts_[static_cast<std::size_t>(number) - 1];
  // Cut before searching the end of the line: a text may be a single line of a mebibyte with an error at every word.
  const std::string_view rest = cut(std::string_view{text_}.substr(start), kMaxQuotedLine);
  return printable(rest.substr(0, rest.find_first_of("\r\n")));
}

Complaint SourceText::complaint(Place place, std::string_view key, std::string reason, std::string hint) const {
  Complaint result;
  result.file = name_;
  // An override is a single line without a number, so only its column is useful.
  result.line = is_override_ ? 0 : place.line;
  result.column = is_override_ && place.line > 1 ? 0 : place.column;
  result.key = printable(cut(key, kMaxQuotedLine));
  result.reason = std::move(reason);
  result.hint = std::move(hint);
  result.source_line = line(is_override_ ? 1 : place.line);
  if (static_cast<std::size_t>(std::max(0, result.column)) > result.source_line.size() + 1) result.source_line.clear();
  return result;
}

std::string found_text(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::sequence:
      return node.items.empty() ? "an empty list" : "a list";
    case YamlNode::Kind::map:
      return node.entries.empty() ? "an empty map" : "a map";
    case YamlNode::Kind::scalar:
      break;
  }
  const std::string_view start = cut(node.text, kMaxFound);
  return (node.quoted ? "the text \"" : "\"") + printable(start) + (start.size() < node.text.size() ? "...\"" : "\"");
}

}  // namespace contend
