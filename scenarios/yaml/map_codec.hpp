#pragma once
// Codecs of plain structs as maps whose keys are the members, and of lists of such maps.

#include "scenarios/yaml/codecs.hpp"
#include "scenarios/yaml/shared_function.hpp"
#include "scenarios/yaml/usual_words.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// One member of a map.
template <class T>
struct Field {
  std::string_view name;
  bool required;
  SharedFunction<void(JsonWriter&)> schema;
  SharedFunction<void(const YamlNode&, const Reading&, T&)> read;
  SharedFunction<std::string(const T&)> print;  ///< an empty text omits the member
  SharedFunction<void(T&, const PathVisitor&)> paths{};
};

template <class T, class Value>
[[nodiscard]] Field<T> field(std::string_view name, Value T::*member, const Codec<Value>& codec,
                             bool required = false) {
  Field<T> made{name, required, codec.schema,
                [codec, member](const YamlNode& node, const Reading& reading, T& value) {
                  codec.read(node, reading, value.*member);
                },
                [codec, member, required](const T& value) {
                  return !required && value.*member == T{}.*member ? std::string{} : codec.print(value.*member);
                }};
  if (codec.paths)
    made.paths = [codec, member](T& value, const PathVisitor& visit) { codec.paths(value.*member, visit); };
  return made;
}

template <class T>
void read_fields(const std::vector<Field<T>>& fields, const YamlNode& map, const Reading& reading, T& value) {
  std::vector<std::string> names;
  for (const auto& each : fields) names.emplace_back(each.name);
  for (const YamlNode::Entry& entry : map.entries) {
    const std::string key = reading.key.empty() ? entry.key : reading.key + "." + entry.key;
    const Reading inner{reading.source, key, reading.complaints, reading.files};
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.name == entry.key; });
    if (found == fields.end())
      inner.complain(entry.place, "unknown key", hint_for_key(entry.key, names));
    else
      found->read(entry.value, inner, value);
  }
  for (const auto& each : fields) {
    const auto is_this = [&](const YamlNode::Entry& entry) { return entry.key == each.name; };
    if (each.required && std::none_of(map.entries.begin(), map.entries.end(), is_this))
      reading.complain(map.place, fmt::format("{} is missing", each.name));
  }
}

/// A codec for a map with these members; `example` is shown when the value is no map.
template <class T>
[[nodiscard]] Codec<T> map_codec(std::vector<Field<T>> fields, std::string_view example) {
  Codec<T> codec;
  codec.type = "map";
  codec.schema = [fields](JsonWriter& json) {
    json.member("type", "object").member("additionalProperties", false);
    json.key("required").begin_array();
    for (const auto& each : fields)
      if (each.required) json.value(each.name);
    json.end_array().key("properties").begin_object();
    for (const auto& each : fields) {
      json.key(each.name).begin_object();
      each.schema(json);
      json.end_object();
    }
    json.end_object();
  };
  codec.read = [fields, example](const YamlNode& node, const Reading& reading, T& value) {
    if (node.kind != YamlNode::Kind::map) return reading.expected(fmt::format("a map such as {}", example), node);
    const std::size_t complaints = reading.complaints.size();
    T read;
    read_fields(fields, node, reading, read);
    if (reading.complaints.size() == complaints) value = std::move(read);
  };
  codec.print = [fields](const T& value) {
    std::vector<std::string> entries;
    for (const auto& each : fields) {
      const std::string text = each.print(value);
      if (!text.empty()) entries.push_back(fmt::format("{}: {}", each.name, text));
    }
    return fmt::format("{{{}}}", join(entries));
  };
  if (std::any_of(fields.begin(), fields.end(), [](const auto& each) { return bool{each.paths}; }))
    codec.paths = [fields](T& value, const PathVisitor& visit) {
      for (const auto& each : fields)
        if (each.paths) each.paths(value, visit);
    };
  return codec;
}

/// A list of maps or names; complaints number its elements in their key.
template <class T>
[[nodiscard]] Codec<std::vector<T>> numbered_list(Codec<T> item, std::string_view word, std::size_t maximum) {
  Codec<std::vector<T>> codec = list_codec(item, word);
  codec.plain = {};  // as it is printed, also if it holds only one
  codec.read = [item, word, maximum](const YamlNode& node, const Reading& reading, std::vector<T>& value) {
    if (node.kind != YamlNode::Kind::sequence) return reading.expected(fmt::format("a list of {}", word), node);
    if (node.items.size() > maximum) return reading.expected(fmt::format("at most {} {}", maximum, word), node);
    value.resize(node.items.size());
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string key = fmt::format("{}[{}]", reading.key, i);
      item.read(node.items[i], Reading{reading.source, key, reading.complaints, reading.files}, value[i]);
    }
  };
  return codec;
}

}  // namespace contend
