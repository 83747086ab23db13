#include "scenarios/yaml/usual_words.hpp"

#include "text/csv.hpp"
#include "text/words.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace contend {
namespace {

/// The table of a text that the program carries.
std::vector<CsvRow> usual_rows(std::string_view text) {
  return parse_csv(text, "a table of the program").rows;
}

}  // namespace

std::string usual_word_hint(std::string_view word, const std::vector<std::string>& names, std::string_view prefix) {
  static const std::vector<CsvRow> table = usual_rows(usual_words());
  for (const CsvRow& row : table) {
    const std::string &key = row.fields[1], &hint = row.fields[2];
    if (!same_but_for_case(row.fields[0], word)) continue;
    if (std::ranges::find(names, key.substr(0, key.find('.'))) == names.end()) continue;
    return hint.empty() ? fmt::format("did you mean \"{}{}\"?", prefix, key) : hint;
  }
  return {};
}

std::string hint_for_key(const std::string& word, const std::vector<std::string>& names, std::string_view prefix) {
  const std::string usual = usual_word_hint(word, names, prefix);
  return usual.empty() ? did_you_mean(word, names) : usual;
}

std::vector<std::string> policies_called(std::string_view kind, std::string_view word) {
  std::vector<std::string> names;
  static const std::vector<CsvRow> table = usual_rows(called_policies());
  for (const CsvRow& row : table)
    if (row.fields[0] == kind && same_but_for_case(row.fields[1], word)) names.push_back(row.fields[2]);
  return names;
}

}  // namespace contend
