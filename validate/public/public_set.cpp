#include "validate/public/public_set.hpp"

#include "scenarios/yaml/yaml_tree.hpp"
#include "sim/error.hpp"
#include "sim/fields.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

using Kind = YamlNode::Kind;

double number_of(const std::string& text, std::string_view column) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0')
    throw InputError{fmt::format("column {} of a public row: \"{}\" is no number", column, text)};
  return value;
}

std::int64_t whole_of(const std::string& text, std::string_view expression) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw InputError{fmt::format("${{{}}}: \"{}\" is no whole number", expression, text)};
  return value;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// Where a member of a set is kept.
std::string* text_member(PublicSet& set, std::string_view name) {
  const std::pair<std::string_view, std::string*> members[] = {{"name", &set.name},
                                                               {"title", &set.title},
                                                               {"source", &set.source},
                                                               {"rows", &set.rows},
                                                               {"measured", &set.measured},
                                                               {"gpus", &set.gpus},
                                                               {"label", &set.label},
                                                               {"workload", &set.workload},
                                                               {"scenario", &set.scenario},
                                                               {"per_server", &set.per_server},
                                                               {"peer", &set.peer},
                                                               {"peer_column", &set.peer_column},
                                                               {"peer_claim", &set.peer_claim},
                                                               {"scenario_of", &set.scenario_of}};
  for (const auto& [member, text] : members)
    if (member == name) return text;
  return nullptr;
}

void read_member(const YamlNode::Entry& entry, PublicSet& set) {
  if (entry.key == "words") {
    for (const YamlNode::Entry& column : entry.value.entries)
      for (const YamlNode::Entry& word : column.value.entries) set.words[column.key][word.key] = word.value.text;
    return;
  }
  if (entry.key == "mean") {
    set.mean = number_of(entry.value.text, entry.key);
  } else if (entry.key == "refused") {
    set.refused = static_cast<int>(whole_of(entry.value.text, entry.key));
  } else if (entry.key == "apart") {
    set.apart = entry.value.text == "true";
  } else if (std::string* const text = text_member(set, entry.key)) {
    *text = entry.value.text;
  } else {
    throw InputError{fmt::format("sets.yaml:{}: {}: unknown member of a set", entry.place.line, entry.key)};
  }
}

}  // namespace

MeasuredUnit PublicSet::unit() const {
  if (measured.starts_with("tok")) return MeasuredUnit::tokens_per_s;
  if (measured.ends_with("_ms")) return MeasuredUnit::milliseconds;
  return MeasuredUnit::seconds;
}

std::vector<PublicSet> read_public_sets(std::string_view text) {
  const SourceText source{"sets.yaml", std::string{text}};
  std::vector<Complaint> complaints;
  const std::optional<YamlNode> root = parse_yaml(source.text(), source, 1, complaints);
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  if (!root || root->kind != Kind::sequence) throw InputError{"sets.yaml: expected a list of sets"};
  std::vector<PublicSet> sets;
  for (const YamlNode& node : root->items) {
    PublicSet set;
    for (const YamlNode::Entry& entry : node.entries) read_member(entry, set);
    if (const auto other = std::ranges::find(sets, set.scenario_of, &PublicSet::name); other != sets.end())
      set.scenario = other->scenario;
    for (const char* const needed : {"name", "title", "source", "rows", "measured", "gpus", "label", "scenario"})
      if (text_member(set, needed)->empty())
        throw InputError{fmt::format("sets.yaml:{}: a set needs `{}`", node.place.line, needed)};
    sets.push_back(std::move(set));
  }
  return sets;
}

const std::vector<PublicSet>& public_sets() {
  static const std::vector<PublicSet> sets = read_public_sets(public_sets_text());
  return sets;
}

std::optional<PublicRow> PublicRow::of(const PublicSet& set, const CsvTable& table, const CsvRow& row) {
  PublicRow made;
  for (std::size_t column = 0; column < table.header.size(); ++column) {
    std::string value{trimmed(std::string_view{row.fields.at(column)}.substr(0, row.fields[column].find(" (")))};
    if (const auto words = set.words.find(table.header[column]); words != set.words.end()) {
      const auto word = words->second.find(value.empty() ? "none" : value);
      if (word == words->second.end()) return std::nullopt;
      value = word->second;
    }
    made.values_[table.header[column]] = std::move(value);
  }
  const auto gpus = static_cast<int>(whole_of(made.filled(set.gpus), set.gpus));
  made.values_["gpus"] = std::to_string(gpus);
  const auto per_server = static_cast<int>(whole_of(first_line(made.filled(set.per_server)), set.per_server));
  made.values_["servers"] = std::to_string((gpus + per_server - 1) / per_server);
  made.values_["gpus_per_server"] = std::to_string(std::min(gpus, per_server));
  return made;
}

const std::string& PublicRow::text(std::string_view column) const {
  const auto found = values_.find(column);
  if (found == values_.end()) throw InputError{fmt::format("a public row has no column `{}`", column)};
  return found->second;
}

double PublicRow::number(std::string_view column) const {
  return number_of(text(column), column);
}

bool PublicRow::holds(std::string_view condition) const {
  condition = trimmed(condition);
  constexpr std::string_view kAnd = " and ";
  if (const std::size_t both = condition.find(kAnd); both != std::string_view::npos)
    return holds(condition.substr(0, both)) && holds(condition.substr(both + kAnd.size()));
  if (condition.starts_with('!')) return !holds(condition.substr(1));
  const std::size_t space = condition.find(' ');
  const std::string& value = text(condition.substr(0, space));
  if (space == std::string_view::npos) return !value.empty();
  const std::string_view rest = trimmed(condition.substr(space));
  const std::size_t behind = rest.find(' ');
  const std::string_view sign = rest.substr(0, behind);
  if (behind == std::string_view::npos || (sign != "=" && sign != ">" && sign != "has"))
    throw InputError{fmt::format("[{}]: expected `column = word`, `column has word` or `column > number`", condition)};
  const std::string wanted{trimmed(rest.substr(behind))};
  if (sign == "=") return value == wanted;
  if (sign == "has") return value.find(wanted) != std::string::npos;
  return !value.empty() && number_of(value, condition) > number_of(wanted, condition);
}

std::string PublicRow::value(std::string_view expression) const {
  constexpr std::string_view kSigns = "*/";
  if (expression.find_first_of(kSigns) == std::string_view::npos) return text(expression);
  std::int64_t result = 1;
  char sign = '*';
  for (std::string_view rest = expression; !rest.empty();) {
    const std::size_t next = std::min(rest.find_first_of(kSigns), rest.size());
    const std::string word{rest.substr(0, next)};
    const bool is_number = word.find_first_not_of("0123456789") == std::string::npos;
    const std::int64_t operand = whole_of(is_number ? word : text(word), expression);
    if (sign == '/' && (operand == 0 || result % operand != 0))
      throw InputError{fmt::format("${{{}}}: {} / {} is no whole number", expression, result, operand)};
    result = sign == '*' ? result * operand : result / operand;
    if (next < rest.size()) sign = rest[next];
    rest = rest.substr(std::min(next + 1, rest.size()));
  }
  return std::to_string(result);
}

std::string PublicRow::filled(const std::string& pattern) const {
  std::string filled;
  for (std::string_view rest = pattern; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest = rest.substr(std::min(end + 1, rest.size()));
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    std::string_view body = line.substr(indent);
    if (body.starts_with('[')) {
      const std::size_t close = std::min(body.find(']'), body.size() - 1);
      if (!holds(body.substr(1, close - 1))) continue;
      body = trimmed(body.substr(close + 1));
    }
    filled.append(indent, ' ');
    while (!body.empty()) {
      const std::size_t dollar = std::min(body.find("${"), body.size());
      filled += body.substr(0, dollar);
      if (dollar == body.size()) break;
      const std::size_t close = body.find('}', dollar);
      if (close == std::string_view::npos) throw InputError{fmt::format("\"{}\": ${{ without }}", line)};
      filled += value(body.substr(dollar + 2, close - dollar - 2));
      body = body.substr(close + 1);
    }
    filled += '\n';
  }
  if (!pattern.ends_with('\n') && filled.ends_with('\n')) filled.pop_back();
  return filled;
}

}  // namespace contend
