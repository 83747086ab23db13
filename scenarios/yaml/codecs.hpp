#pragma once
// A codec reads one kind of value from YAML, prints it, shows it as a number and describes it. It does not depend on a
// particular key, so a row of the key table is only: path, member, codec, text.

#include "models/workload.hpp"
#include "scenarios/yaml/shared_function.hpp"
#include "scenarios/yaml/source_layers.hpp"
#include "scenarios/yaml/yaml_tree.hpp"
#include "text/json_writer.hpp"
#include "text/magnitude.hpp"
#include "text/quantities.hpp"
#include "text/words.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

/// The context of a value that is being read: its source, its key, and the list for complaints.
struct Reading {
  const SourceText& source;
  const std::string& key;  ///< dotted path
  std::vector<Complaint>& complaints;
  const FileReader* files = nullptr;  ///< for values that may be in a file of their own

  /// Reports `expected an integer >= 1, got "eight"` at the place of `found`.
  void expected(std::string_view what, const YamlNode& found, std::string hint = {}) const;
  void complain(Place place, std::string reason, std::string hint = {}) const;
  /// Reports `expected one of a, b, c, got "x"; did you mean ...`, or this hint.
  /// `listed`, which says what lists the names, such as "names of `contend list networks`", stands in place of them if
  /// they are many.
  void expected_one_of(const std::vector<std::string>& names, const YamlNode& found, std::string hint = {},
                       std::string_view listed = {}) const;
};

/// A value as people write it: text without the quotes of YAML, a list of one item as its item.
struct PlainValue {
  std::string text;
  std::optional<Magnitude> magnitude;  ///< if the value is a number or a quantity

  friend bool operator==(const PlainValue&, const PlainValue&) = default;
};

/// Names of parts of a value.
using PartNames = std::span<const std::string>;

/// Sees, and may change, the path of each file that a value names.
using PathVisitor = std::function<void(std::string& path)>;

/// The format of one kind of value.
template <class T>
struct Codec {
  std::string type;                          ///< for people: `integer`, `time`, `rate or auto`
  std::string range;                         ///< for people: `1 to 1024`, `a, b or c`, or empty
  SharedFunction<void(JsonWriter&)> schema;  ///< writes the members of the JSON Schema (draft-07) of a value
  /// Stores the value, or reports a complaint and leaves the value as it was.
  SharedFunction<void(const YamlNode&, const Reading&, T&)> read;
  SharedFunction<std::string(const T&)> print;  ///< YAML in flow style, on one line
  /// The value for tables and plots, without the parts `apart`, which are shown on their own; nothing if there is no
  /// value. If empty, the value is what `print` prints, and no number. Called through plain_value().
  SharedFunction<std::optional<PlainValue>(const T&, PartNames apart)> plain;
  /// A part of the value by its name, such as a parameter of a policy; nothing if there is none. If empty, the value
  /// has no parts.
  SharedFunction<std::optional<PlainValue>(const T&, std::string_view name)> part;
  /// Shows the paths of the files in a value, in order. If empty, no value names a file. The codec of a value made of
  /// other values passes on the paths of the parts, so that a path is found wherever path_codec() reads one.
  SharedFunction<void(T&, const PathVisitor&)> paths;
  bool is_optional = false;  ///< the codec of a std::optional
  std::string_view unset;    ///< the word for an empty optional; empty if only an absent key means that
};

template <class T>
[[nodiscard]] std::optional<PlainValue> plain_value(const Codec<T>& codec, const T& value, PartNames apart = {}) {
  if (codec.plain) return codec.plain(value, apart);
  std::string text = codec.print(value);
  return text.empty() ? std::nullopt : std::optional{PlainValue{std::move(text), std::nullopt}};
}

/// As Codec::plain wants it: a list of one as its item, any other as it is printed.
template <class T>
[[nodiscard]] auto plain_list(const Codec<std::vector<T>>& list, const Codec<T>& item) {
  return [print = list.print, item](const std::vector<T>& value, PartNames apart) -> std::optional<PlainValue> {
    if (value.size() == 1) return plain_value(item, value.front(), apart);
    return PlainValue{print(value), std::nullopt};
  };
}

[[nodiscard]] Codec<std::string> text_codec();
/// A name that can be printed as it is (why_not_printable), or an empty text.
[[nodiscard]] Codec<std::string> title_codec();
/// A path, made relative to the folder of the text that contains it.
[[nodiscard]] Codec<std::string> path_codec();
[[nodiscard]] Codec<bool> bool_codec();
/// Integers in decimal only: 010 is ten.
template <class Int>
[[nodiscard]] Codec<Int> integer_codec(std::int64_t minimum, std::int64_t maximum);
/// Both limits inclusive.
[[nodiscard]] Codec<double> number_codec(double minimum, double maximum);
/// Both limits inclusive.
template <class T>
[[nodiscard]] Codec<T> quantity_codec(T minimum, T maximum);
/// One of the given names. `listed` is as in Reading::expected_one_of(), and lives on.
[[nodiscard]] Codec<std::string> name_codec(const std::vector<std::string>& names, std::string_view listed = {});
/// A list of names of training profiles.
[[nodiscard]] Codec<std::vector<std::string>> models_codec();
/// A map from numbers of GPUs to numbers of jobs.
[[nodiscard]] Codec<std::vector<std::pair<int, int>>> sizes_codec(int max_gpus, int max_jobs);
/// A pair `[min, max]`.
[[nodiscard]] Codec<std::pair<std::int64_t, std::int64_t>> interval_codec(std::int64_t minimum, std::int64_t maximum);

/// Text as a YAML scalar: plain if it cannot be mistaken for another type, else in double quotes (which are also valid
/// JSON).
[[nodiscard]] std::string quote(std::string_view text);
/// Writes the JSON Schema for one of these names.
void names_schema(JsonWriter& json, const std::vector<std::string>& names);

/// Writes the JSON Schema of a value that fits one of several; each writes the members of its own, as Codec::schema.
template <class... Alternatives>
void any_of_schema(JsonWriter& json, const Alternatives&... alternatives) {
  const auto write = [&](const auto& alternative) {
    json.begin_object();
    alternative(json);
    json.end_object();
  };
  json.key("anyOf").begin_array();
  (write(alternatives), ...);
  json.end_array();
}
/// Writes the JSON Schema for one word.
[[nodiscard]] inline auto word_schema(std::string_view word) {
  return [word](JsonWriter& json) { json.member("const", word); };
}

/// One of the names of an explicit table.
template <class Enum>
[[nodiscard]] Codec<Enum> choice_codec(std::vector<std::pair<std::string, Enum>> choices) {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.first);
  Codec<Enum> codec;
  codec.type = "name";
  codec.range = join(names, " or ");
  codec.schema = [names](JsonWriter& json) { names_schema(json, names); };
  codec.read = [choices, names](const YamlNode& node, const Reading& reading, Enum& value) {
    for (const auto& [name, choice] : choices) {
      if (node.kind == YamlNode::Kind::scalar && node.text == name) {
        value = choice;
        return;
      }
    }
    reading.expected_one_of(names, node);
  };
  codec.print = [choices](const Enum& value) {
    std::string text;
    for (const auto& [name, choice] : choices) {
      if (choice == value) text = name;
    }
    return text;
  };
  return codec;
}

/// `inner`, or the word `unset` for no value; with an empty word only an absent key means no value.
template <class T>
[[nodiscard]] Codec<std::optional<T>> optional_codec(Codec<T> inner, std::string_view unset) {
  Codec<std::optional<T>> codec;
  codec.type = unset.empty() ? inner.type : fmt::format("{} or {}", inner.type, unset);
  codec.range = inner.range;
  codec.schema = [inner, unset](JsonWriter& json) {
    if (unset.empty()) return inner.schema(json);
    any_of_schema(json, inner.schema, word_schema(unset));
  };
  codec.is_optional = true;
  codec.unset = unset;
  codec.read = [inner, unset](const YamlNode& node, const Reading& reading, std::optional<T>& value) {
    if (!unset.empty() && node.kind == YamlNode::Kind::scalar && node.text == unset) {
      value.reset();
      return;
    }
    T read = value.value_or(T{});
    const std::size_t complaints = reading.complaints.size();
    inner.read(node, reading, read);
    if (reading.complaints.size() == complaints) value = std::move(read);
    const bool is_whole = node.kind == YamlNode::Kind::scalar && reading.complaints.size() == complaints + 1;
    if (!unset.empty() && is_whole && reading.complaints.back().hint.empty())
      reading.complaints.back().hint = fmt::format("`{}` is possible, too", unset);
  };
  codec.print = [inner, unset](const std::optional<T>& value) {
    return value ? inner.print(*value) : std::string{unset};
  };
  if (inner.paths)
    codec.paths = [inner](std::optional<T>& value, const PathVisitor& visit) {
      if (value) inner.paths(*value, visit);
    };
  codec.plain = [inner, unset](const std::optional<T>& value, PartNames apart) -> std::optional<PlainValue> {
    if (value) return plain_value(inner, *value, apart);
    return unset.empty() ? std::nullopt : std::optional{PlainValue{std::string{unset}, std::nullopt}};
  };
  return codec;
}

/// As Codec::paths wants it: shows the paths of each item.
template <class T>
[[nodiscard]] SharedFunction<void(std::vector<T>&, const PathVisitor&)> paths_of_items(const Codec<T>& item) {
  if (!item.paths) return {};
  return [item](std::vector<T>& values, const PathVisitor& visit) {
    for (T& each : values) item.paths(each, visit);
  };
}

/// The longest list that is accepted, so that a printed scenario fits into a file that can be read back.
inline constexpr std::size_t kMaxItems = 1'000;
/// The reason why an entry of a map can't have that name; empty if it can.
[[nodiscard]] std::string why_no_entry_name(const std::string& name);

/// True if the node is a list of at most `most` items, else complains of the node; `word` names the items.
[[nodiscard]] bool is_list_of(const Reading& reading, const YamlNode& node, std::string_view word, std::size_t most);
/// The values as a list in flow style.
[[nodiscard]] std::string print_list(const std::vector<std::string>& values);

/// A list of values, which may be empty; `word` names the values.
template <class T>
[[nodiscard]] Codec<std::vector<T>> list_codec(Codec<T> item, std::string_view word) {
  Codec<std::vector<T>> codec;
  codec.type = fmt::format("list of {}", word);
  codec.range = item.range;
  codec.schema = [item](JsonWriter& json) {
    json.member("type", "array").key("items").begin_object();
    item.schema(json);
    json.end_object();
  };
  codec.read = [item, word](const YamlNode& node, const Reading& reading, std::vector<T>& value) {
    if (!is_list_of(reading, node, word, kMaxItems)) return;
    const std::size_t complaints = reading.complaints.size();
    std::vector<T> values(node.items.size());
    for (std::size_t i = 0; i < values.size(); ++i) item.read(node.items[i], reading, values[i]);
    if (reading.complaints.size() == complaints) value = std::move(values);
  };
  codec.print = [item](const std::vector<T>& value) {
    std::vector<std::string> items;
    for (const T& each : value) items.push_back(item.print(each));
    return print_list(items);
  };
  codec.paths = paths_of_items(item);
  codec.plain = plain_list(codec, item);
  return codec;
}

/// A list of values, at least one, each there once; `fresh` is what an item starts from.
template <class T>
[[nodiscard]] Codec<std::vector<T>> distinct_list_codec(const Codec<T>& inner, const T& fresh,
                                                        const std::string& what) {
  Codec<std::vector<T>> codec;
  codec.type = "list of " + what;
  codec.range = inner.range;
  codec.schema = [inner](JsonWriter& json) {
    json.member("type", "array").member("minItems", 1).key("items").begin_object();
    inner.schema(json);
    json.end_object();
  };
  codec.read = [inner, fresh, what](const YamlNode& node, const Reading& reading, std::vector<T>& value) {
    if (node.kind != YamlNode::Kind::sequence) return reading.expected("a list of " + what, node);
    if (node.items.empty())
      return reading.complain(node.place, fmt::format("expected a list of {}, got an empty one", what));
    if (node.items.size() > kMaxItems) return reading.expected(fmt::format("at most {} items", kMaxItems), node);
    const std::size_t complaints = reading.complaints.size();
    std::vector<T> items;
    std::set<std::string> seen;
    for (const YamlNode& item : node.items) {
      items.push_back(fresh);
      const std::size_t before = reading.complaints.size();
      inner.read(item, reading, items.back());
      if (reading.complaints.size() != before) continue;
      const std::string text = inner.print(items.back());
      if (!seen.insert(text).second) reading.complain(item.place, fmt::format("{} is there twice", text));
    }
    if (reading.complaints.size() == complaints) value = std::move(items);
  };
  codec.print = [inner](const std::vector<T>& value) {
    std::vector<std::string> items;
    for (const T& each : value) items.push_back(inner.print(each));
    return print_list(items);
  };
  codec.paths = paths_of_items(inner);
  codec.plain = plain_list(codec, inner);
  return codec;
}

}  // namespace contend
