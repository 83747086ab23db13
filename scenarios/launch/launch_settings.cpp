#include "scenarios/launch/launch_settings.hpp"

#include "scenarios/yaml/yaml_tree.hpp"
#include "sim/complaints.hpp"
#include "sim/error.hpp"
#include "sim/fields.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// The words of a shell text, and what variables are.
class ShellWords {
 public:
  explicit ShellWords(std::string_view text) {
    int line = 1, depth = 0;
    bool goes_on = false;  // a backslash stands before the end of the line
    for (std::size_t at = 0; at < text.size();) {
      const char c = text[at];
      line += c == '\n' ? 1 : 0;
      if (c == '#') {
        at = std::min(text.find('\n', at), text.size());
        continue;
      }
      if (!is_between(c)) {
        at = take(text, at, line);
        continue;
      }
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      // A statement ends: what follows is no value of the argument before.
      if (c == ')' || (c == '\n' && !goes_on && depth <= 0)) words_.emplace_back(line, "");
      if (c != '\r') goes_on = c == '\\';
      ++at;
    }
  }

  /// The arguments, each with the word behind it that is no argument itself.
  [[nodiscard]] std::vector<LaunchSetting> arguments() const {
    std::vector<LaunchSetting> all;
    bool is_behind = false;
    for (const auto& [line, word] : words_) {
      if (word.empty()) {
        is_behind = false;
      } else if (word.starts_with("--")) {
        const std::size_t equals = word.find('=');
        all.push_back({line, word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1)});
        is_behind = equals == std::string::npos;
      } else if (is_behind) {
        all.back().value = word;
        is_behind = false;
      }
    }
    for (LaunchSetting& each : all) each.value = resolved(each.value);
    return all;
  }

 private:
  static bool is_between(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\' || c == '(' || c == ')';
  }

  /// The value with variables as the text gives them, also of variables that are made of others.
  [[nodiscard]] std::string resolved(const std::string& value, int depth = 0) const {
    constexpr int kDeepest = 8;
    std::string_view name = value;
    if (!name.starts_with('$') || depth > kDeepest) return value;
    name.remove_prefix(1);
    std::optional<std::string> usual;
    if (name.starts_with('{') && name.ends_with('}')) {
      name = name.substr(1, name.size() - 2);
      if (const std::size_t colon = name.find(":-"); colon != std::string_view::npos) {
        usual = std::string{name.substr(colon + 2)};
        name = name.substr(0, colon);
      }
    }
    const auto known = variables_.find(name);
    if (known != variables_.end()) {
      const std::string text = resolved(known->second, depth + 1);
      if (!text.starts_with('$')) return text;
    }
    return usual ? resolved(*usual, depth + 1) : value;
  }

  /// Takes the word at `at` and returns where it ends.
  std::size_t take(std::string_view text, std::size_t at, int line) {
    std::string word;
    char quote = '\0';
    for (; at < text.size(); ++at) {
      const char c = text[at];
      if (quote == '\0' && (c == '\'' || c == '"')) {
        quote = c;
      } else if (c == quote && quote != '\0') {
        quote = '\0';
      } else if (c == '\n' || (quote == '\0' && (c == ' ' || c == '\t' || c == '\r' || c == '(' || c == ')'))) {
        break;
      } else {
        word += c;
      }
    }
    const std::size_t equals = word.find('=');
    if (!word.starts_with('-') && equals != std::string::npos && equals > 0) {
      const std::string value = word.substr(equals + 1);
      if (has_arguments(value)) {  // NAME="--a 1 --b 2", NAME+=" --b 2", NAME="$NAME --b 2"
        words_.emplace_back(line, "");
        take_list(value, line);
        words_.emplace_back(line, "");
      } else if (word[equals - 1] == '+') {  // no value of the argument before it
        variables_[word.substr(0, equals - 1)] += value;
      } else {
        variables_[word.substr(0, equals)] = value;
      }
      return at;
    }
    if (word.starts_with("--") && word.find(' ') != word.npos)
      take_list(word, line);  // ("--a 1" "--b 2")
    else if (!word.empty())
      words_.emplace_back(line, std::move(word));
    return at;
  }

  /// Whether one of the words begins with two dashes.
  static bool has_arguments(std::string_view text) {
    for (std::size_t at = text.find("--"); at != std::string_view::npos; at = text.find("--", at + 1))
      if (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t') return true;
    return false;
  }

  void take_list(std::string_view text, int line) {
    for (auto& [unused, each] : ShellWords{text}.words_) words_.emplace_back(line, std::move(each));
  }

  std::vector<std::pair<int, std::string>> words_;  // by line; an empty one ends a statement
  std::map<std::string, std::string, std::less<>> variables_;
};

/// Adds what stands below a node; `line` is the line of its key, in the text that was parsed.
void add_settings(const YamlNode& node, const std::string& name, int line, std::vector<LaunchSetting>& all) {
  const auto behind = [&](std::string_view key) {
    return name.empty() ? std::string{key} : fmt::format("{}.{}", name, key);
  };
  if (node.kind == YamlNode::Kind::map) {
    for (const YamlNode::Entry& each : node.entries) add_settings(each.value, behind(each.key), each.place.line, all);
    return;
  }
  const bool is_plain = std::ranges::all_of(node.items, [](const YamlNode& each) {
    return each.kind == YamlNode::Kind::scalar || each.kind == YamlNode::Kind::null;
  });
  if (node.kind == YamlNode::Kind::sequence && !is_plain) {
    for (std::size_t i = 0; i < node.items.size(); ++i)
      add_settings(node.items[i], fmt::format("{}[{}]", name, i), node.items[i].place.line, all);
    return;
  }
  std::string value = node.text;
  for (const YamlNode& each : node.items) value += fmt::format("{}{}", value.empty() ? "" : " ", each.text);
  all.push_back({line, name, std::move(value)});
}

/// The tree of a text. Throws InputError.
YamlNode tree_of(const std::string& text, const std::string& file) {
  std::vector<Complaint> complaints;
  const std::optional<YamlNode> root = parse_yaml(text, SourceText{file, text}, 1, complaints);
  if (!complaints.empty() || !root) throw InputError{std::move(complaints)};
  return *root;
}

bool is_toml_table(std::string_view line) {
  const std::string_view text = trimmed(line.substr(0, line.find('#')));
  return text.size() > 2 && text.front() == '[' && text.back() == ']' && text.find_first_of(",'\"") == text.npos;
}

/// Settings of TOML: `[table]` lines, and `key = value` lines, whose values are read as YAML has them. A list may go on
/// over several lines. Throws InputError.
std::vector<LaunchSetting> toml_settings(std::string_view text, const std::string& file) {
  std::vector<LaunchSetting> all;
  std::string table;
  std::set<std::pair<std::string, std::string>> known;  // tables and keys
  for (int line = 1; !text.empty(); ++line) {
    std::string_view rest = take_field(text, '\n');
    if (rest.ends_with('\r')) rest.remove_suffix(1);
    if (trimmed(rest).empty() || trimmed(rest).front() == '#') continue;
    if (is_toml_table(rest)) {
      table = trimmed(rest.substr(0, rest.find('#')));
      std::erase_if(table, [](char c) { return c == '[' || c == ']' || c == ' '; });
      continue;
    }
    const std::size_t equals = rest.find('=');
    if (equals == rest.npos)
      throw InputError{{.file = file,
                        .line = line,
                        .reason = fmt::format("expected a [table] or KEY = VALUE, got \"{}\"", trimmed(rest))}};
    const std::string_view key = trimmed(rest.substr(0, equals));
    if (!known.emplace(table, key).second)
      throw InputError{{.file = file, .line = line, .reason = fmt::format("{}: is given twice in [{}]", key, table)}};
    std::string value{rest.substr(equals + 1)};
    const int first = line;
    while (trimmed(value).starts_with('[') && value.find(']') == value.npos && !text.empty()) {
      value += fmt::format("\n{}", take_field(text, '\n'));
      ++line;
    }
    std::vector<LaunchSetting> read;
    add_settings(tree_of(fmt::format("value: {}\n", value), file), "", first, read);
    for (LaunchSetting& each : read) {
      each.line = first;
      each.name.replace(0, std::string_view{"value"}.size(), table.empty() ? key : fmt::format("{}.{}", table, key));
      all.push_back(std::move(each));
    }
  }
  return all;
}

bool has_toml_table(std::string_view text) {
  while (!text.empty())
    if (is_toml_table(take_field(text, '\n'))) return true;
  return false;
}

}  // namespace

LaunchSettings launch_settings(const std::string& text, const std::string& file) {
  const auto ends = [&](std::string_view ending) { return file.ends_with(ending); };
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool is_json = ends(".json") || (begin != text.npos && text[begin] == '{');
  if (is_json || ends(".yaml") || ends(".yml")) {
    std::string plain = text;
    if (is_json) std::ranges::replace(plain, '\t', ' ');  // with which YAML indents nothing
    LaunchSettings settings{.syntax = LaunchSyntax::tree};
    add_settings(tree_of(plain, file), "", 1, settings.all);
    return settings;
  }
  if (ends(".toml") || has_toml_table(text)) return {LaunchSyntax::tree, toml_settings(text, file)};
  return {LaunchSyntax::shell, ShellWords{text}.arguments()};
}

}  // namespace contend
