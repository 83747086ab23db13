#include "traces/layers/config_fields.hpp"

#include "sim/check.hpp"
#include "sim/fields.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

using Kind = JsonValue::Kind;
constexpr std::int64_t kMostOfAField = std::int64_t{1} << 32;

/// config_families.txt by its parts.
struct ConfigTable {
  std::map<std::string_view, std::map<std::string_view, std::vector<std::string_view>>> names;
  std::set<std::string_view> exact;
  std::vector<std::string_view> globs;
  std::map<std::pair<std::string_view, std::string_view>, ConfigTraits> traits;
};

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::string_view word = take_field(text, ' ');
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

void add_traits(const TextEntry& entry, ConfigTable& table) {
  ConfigTraits traits;
  std::vector<std::string_view> names{entry.name};
  for (const auto& [word, value] : entry.lines) {
    if (word == "like") {
      traits = table.traits.at({entry.kind, value});
    } else if (word == "also") {
      for (const std::string_view name : words_in(value)) names.push_back(name);
    } else {
      traits[word] = value;
    }
  }
  for (const std::string_view name : names) table.traits[{entry.kind, name}] = traits;
}

ConfigTable read_table() {
  ConfigTable table;
  for (const TextEntry& entry : read_entries(config_families_text())) {
    if (entry.kind != "names") {
      add_traits(entry, table);
      continue;
    }
    for (const auto& [word, value] : entry.lines) {
      const std::vector<std::string_view> names = words_in(value);
      if (word == "exact")
        table.exact.insert(names.begin(), names.end());
      else if (word == "glob")
        table.globs.insert(table.globs.end(), names.begin(), names.end());
      else
        table.names[entry.name][word] = names;
    }
  }
  return table;
}

const ConfigTable& table() {
  static const ConfigTable kTable = read_table();
  return kTable;
}

/// True if the name is the pattern, in which one * or two stand for any letters.
bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t from = star; from <= name.size(); ++from)
    if (matches(rest, name.substr(from))) return true;
  return false;
}

/// True if the value says that there is no such part.
bool is_nothing(const JsonValue& value) {
  switch (value.kind) {
    case Kind::null:
      return true;
    case Kind::boolean:
      return !value.boolean;
    case Kind::number:
      return value.whole() == 0U;
    case Kind::string:
      return value.text.empty();
    default:
      return value.items.empty();
  }
}

/// The member of that name, or of the member in front of its dot.
const JsonValue* member(const JsonValue& object, std::string_view name) {
  const std::string_view first = take_field(name, '.');
  const JsonValue* const value = object.find(first);
  return value == nullptr || name.empty() ? value : value->find(name);
}

}  // namespace

const ConfigTraits* config_traits(std::string_view kind, std::string_view name) {
  const auto found = table().traits.find({kind, name});
  return found == table().traits.end() ? nullptr : &found->second;
}

std::vector<std::string> config_family_names() {
  std::vector<std::string> names;
  for (const auto& [key, traits] : table().traits)
    if (key.first == "family") names.emplace_back(key.second);
  return names;
}

std::optional<double> real_number_of(const JsonValue& value) {
  double number = 0;
  const char* const end = value.text.data() + value.text.size();
  const bool is_number = value.is(Kind::number) && std::from_chars(value.text.data(), end, number).ptr == end;
  return is_number ? std::optional{number} : std::nullopt;
}

ConfigFields::ConfigFields(const JsonValue& object, const JsonValue* outer, std::string_view names,
                           const ConfigTraits& traits, FileComplaints& complaints)
    : object_{object}, outer_{outer}, names_{names}, traits_{traits}, complaints_{complaints} {}

ConfigFields::Found ConfigFields::found(std::string_view word) const {
  const auto& lists = table().names.at(names_);
  const auto list = lists.find(word);
  CONTEND_CHECK(list != lists.end(), "a word of a configuration has names");
  for (const JsonValue* from : {&object_, outer_}) {
    if (from == nullptr) continue;
    for (const std::string_view name : list->second)
      if (const JsonValue* const value = member(*from, name)) return {value, std::string{name}};
  }
  return {nullptr, std::string{list->second.front()}};
}

const JsonValue* ConfigFields::find(std::string_view word) const {
  const JsonValue* const value = found(word).value;
  return value == nullptr || value->is(Kind::null) ? nullptr : value;
}

bool ConfigFields::is_null(std::string_view word) const {
  const JsonValue* const value = found(word).value;
  return value != nullptr && value->is(Kind::null);
}

std::string ConfigFields::name_of(std::string_view word) const {
  return found(word).name;
}

TextPlace ConfigFields::place(std::string_view word) const {
  const JsonValue* const value = found(word).value;
  return value == nullptr ? object_.place : value->place;
}

void ConfigFields::refuse(std::string_view word, std::string reason, std::string hint) {
  complaints_.add(place(word), name_of(word), std::move(reason), std::move(hint));
  complete_ = false;
}

void ConfigFields::wrong_kind(std::string_view word, const JsonValue& value, std::string_view wanted) {
  refuse(word, fmt::format("expected {}, got {}", wanted, kind_name(value.kind)));
}

std::int64_t ConfigFields::read(std::string_view word, const JsonValue& value, std::int64_t least) {
  // A list of equal numbers has one for each layer (Hunyuan).
  if (value.is(Kind::array) && !value.items.empty() && !value.items.front().is(Kind::array)) {
    const auto differs = [&](const JsonValue& item) { return item.text != value.items.front().text; };
    if (std::ranges::none_of(value.items, differs)) return read(word, value.items.front(), least);
    refuse(word, "layers that differ in this are not known", "the same number for all layers");
    return least;
  }
  std::optional<std::uint64_t> number = value.whole();
  // What Python has divided is written with a fraction of 0.
  if (!number && value.is(Kind::number) && value.text.ends_with(".0")) {
    JsonValue without = value;
    without.text.resize(value.text.size() - 2);
    number = without.whole();
  }
  if (number && *number >= static_cast<std::uint64_t>(least) && *number <= kMostOfAField)
    return static_cast<std::int64_t>(*number);
  const std::string got = value.is(Kind::number) ? value.text : std::string{kind_name(value.kind)};
  refuse(word, fmt::format("expected a whole number from {} to {}, got {}", least, kMostOfAField, got));
  return least;
}

std::int64_t ConfigFields::whole(std::string_view word, std::int64_t least) {
  if (const JsonValue* const value = find(word)) return read(word, *value, least);
  if (const std::int64_t implied = trait(word); implied > 0) return implied;
  const std::string name = name_of(word);
  if (found(word).value != nullptr) {
    refuse(word, fmt::format("expected a whole number from {} to {}, got null", least, kMostOfAField));
  } else {
    complaints_.add(object_.place, name, "the field is missing", did_you_mean(name, object_.names));
    complete_ = false;
  }
  return least;
}

std::int64_t ConfigFields::heads(std::string_view word) {
  constexpr std::int64_t kMost = 1 << 20;
  const std::int64_t number = whole(word);
  if (number <= kMost) return number;
  refuse(word, fmt::format("expected a whole number from 1 to {}, got {}", kMost, number));
  return 1;
}

std::int64_t ConfigFields::whole_or(std::string_view word, std::int64_t otherwise, std::int64_t least) {
  const JsonValue* const value = find(word);
  return value == nullptr ? trait(word, otherwise) : read(word, *value, least);
}

double ConfigFields::number_or(std::string_view word, double otherwise) {
  const JsonValue* const value = find(word);
  if (value == nullptr) return static_cast<double>(trait(word, 0)) > 0 ? static_cast<double>(trait(word)) : otherwise;
  const double number = real_number_of(*value).value_or(0);
  constexpr double kMostTimes = 10'000;
  if (number > 0 && number <= kMostTimes) return number;
  refuse(word, fmt::format("expected a number above 0 and up to {}, got {}", kMostTimes,
                           value->is(Kind::number) ? value->text : std::string{kind_name(value->kind)}));
  return otherwise;
}

bool ConfigFields::truth_or(std::string_view word, bool otherwise) {
  const JsonValue* const value = find(word);
  if (value == nullptr) return trait(word, otherwise ? 1 : 0) != 0;
  if (value->is(Kind::boolean)) return value->boolean;
  wrong_kind(word, *value, "true or false");
  return otherwise;
}

std::string ConfigFields::text_or(std::string_view word, std::string otherwise) {
  const JsonValue* const value = find(word);
  if (value == nullptr) return otherwise;
  if (value->is(Kind::string)) return value->text;
  wrong_kind(word, *value, "a string");
  return otherwise;
}

const JsonValue* ConfigFields::sized_array(std::string_view word, std::optional<std::size_t> count) {
  const JsonValue* const value = find(word);
  if (value == nullptr) return nullptr;
  if (!value->is(Kind::array)) {
    wrong_kind(word, *value, "an array");
    return nullptr;
  }
  if (count && value->items.size() != *count) {
    refuse(word, fmt::format("expected {} entries, one for each layer, got {}", *count, value->items.size()));
    return nullptr;
  }
  return value;
}

std::optional<std::vector<std::int64_t>> ConfigFields::numbers(std::string_view word,
                                                               std::optional<std::size_t> count) {
  const JsonValue* const array = sized_array(word, count);
  if (array == nullptr) return {};
  std::vector<std::int64_t> numbers;
  for (const JsonValue& item : array->items) {
    const std::optional<std::uint64_t> number =
        item.is(Kind::boolean) ? std::optional<std::uint64_t>{item.boolean ? 1 : 0} : item.whole();
    if (!number || *number > kMostOfAField) {
      refuse(word, fmt::format("expected an array of whole numbers up to {}, got {}", kMostOfAField,
                               item.is(Kind::number) ? item.text : std::string{kind_name(item.kind)}));
      return {};
    }
    numbers.push_back(static_cast<std::int64_t>(*number));
  }
  return numbers;
}

std::optional<std::vector<std::string>> ConfigFields::texts(std::string_view word, std::size_t count) {
  const JsonValue* const array = sized_array(word, count);
  if (array == nullptr) return {};
  std::vector<std::string> texts;
  for (const JsonValue& item : array->items) {
    if (!item.is(Kind::string)) {
      refuse(word, fmt::format("expected an array of strings, got {}", kind_name(item.kind)));
      return {};
    }
    texts.push_back(item.text);
  }
  return texts;
}

std::int64_t ConfigFields::trait(std::string_view word, std::int64_t otherwise) const {
  const auto found = traits_.find(word);
  if (found == traits_.end()) return otherwise;
  std::int64_t number = 0;
  const char* const end = found->second.data() + found->second.size();
  return std::from_chars(found->second.data(), end, number).ptr == end ? number : otherwise;
}

std::string_view ConfigFields::text_trait(std::string_view word) const {
  const auto found = traits_.find(word);
  return found == traits_.end() ? std::string_view{} : found->second;
}

std::vector<std::string> ConfigFields::unknown() const {
  std::set<std::string_view> known = table().exact;
  for (const auto& [word, names] : table().names.at(names_)) known.insert(names.begin(), names.end());
  std::vector<std::string> unknown;
  const auto look = [&](const JsonValue& object, const std::string& before) {
    for (std::size_t i = 0; i < object.items.size() && object.is(Kind::object); ++i) {
      const std::string name = before + object.names[i];
      const bool is_known = known.contains(name) || is_nothing(object.items[i]) ||
                            std::ranges::any_of(table().globs, [&](auto glob) { return matches(glob, name); });
      if (!is_known) unknown.push_back(name);
    }
  };
  look(object_, "");
  for (const char* inner : {"attn_config", "ffn_config", "linear_attn_config"})
    if (const JsonValue* const value = object_.find(inner)) look(*value, fmt::format("{}.", inner));
  return unknown;
}

}  // namespace contend
