#pragma once
// Reads and prints values that are maps of named members, such as the entries of `training`.

#include "scenarios/yaml/codecs.hpp"
#include "scenarios/yaml/shared_function.hpp"
#include "scenarios/yaml/usual_words.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace contend {

/// A member of a map that is read into a T.
template <class T>
struct MapMember {
  std::string_view name;
  std::string text;
  std::string type, range;
  SharedFunction<void(JsonWriter&)> schema;
  SharedFunction<void(const YamlNode&, const Reading&, T&)> read;
  SharedFunction<std::string(const T&)> print;
  SharedFunction<std::optional<PlainValue>(const T&, std::string_view part)> plain;
  SharedFunction<void(const T& from, T& to)> copy;
  SharedFunction<void(T&, const PathVisitor&)> paths;
};

/// A member for the reference.
struct MemberText {
  std::string name, type, range, text;
  std::string usual;  ///< its value if it is not given; may be empty
};

/// The members for the reference, with their values in `usual`.
template <class T>
[[nodiscard]] std::vector<MemberText> member_texts(std::span<const MapMember<T>> members, const T& usual) {
  std::vector<MemberText> all;
  for (const MapMember<T>& each : members)
    all.push_back({std::string{each.name}, each.type, each.range, each.text, each.print(usual)});
  return all;
}

template <class T, class Value, class Access>
[[nodiscard]] MapMember<T> map_member(std::string_view name, Access access, const Codec<Value>& codec,
                                      std::string text) {
  MapMember<T> made{name, std::move(text), codec.type, codec.range, codec.schema, {}, {}, {}, {}, {}};
  made.read = [codec, access](const YamlNode& node, const Reading& reading, T& map) {
    codec.read(node, reading, access(map));
  };
  made.print = [codec, access](const T& map) { return codec.print(access(map)); };
  made.plain = [codec, access](const T& map, std::string_view part) -> std::optional<PlainValue> {
    if (part.empty()) return plain_value(codec, access(map));
    return codec.part ? codec.part(access(map), part) : std::nullopt;
  };
  if (codec.paths) made.paths = [codec, access](T& map, const PathVisitor& visit) { codec.paths(access(map), visit); };
  made.copy = [access](const T& from, T& to) { access(to) = access(from); };
  return made;
}

/// Shows the paths in all members of a map.
template <class T>
void visit_paths(std::span<const MapMember<T>> members, T& map, const PathVisitor& visit) {
  for (const MapMember<T>& each : members)
    if (each.paths) each.paths(map, visit);
}

template <class T>
[[nodiscard]] const MapMember<T>* find_member(std::span<const MapMember<T>> members, std::string_view name) {
  const auto found = std::ranges::find(members, name, &MapMember<T>::name);
  return found == members.end() ? nullptr : &*found;
}

/// Reads the members of a map into `value` and their names into `given`.
template <class T, class Names>
void read_members(std::span<const MapMember<T>> members, const YamlNode& map, const Reading& reading, T& value,
                  Names& given) {
  for (const YamlNode::Entry& each : map.entries) {
    const std::string key = reading.key + "." + each.key;
    const Reading inner{reading.source, key, reading.complaints, reading.files};
    if (const MapMember<T>* found = find_member(members, each.key); found != nullptr) {
      found->read(each.value, inner, value);
      given.insert(each.key);
      continue;
    }
    std::vector<std::string> names;
    for (const MapMember<T>& member : members) names.emplace_back(member.name);
    inner.complain(each.place, "unknown key", hint_for_key(each.key, names));
  }
}

/// `{name: value, ...}` of the members that were given.
template <class T, class Names>
[[nodiscard]] std::string print_members(std::span<const MapMember<T>> members, const T& value, const Names& given) {
  std::vector<std::string> parts;
  for (const MapMember<T>& each : members) {
    if (!given.contains(each.name)) continue;
    const std::string text = each.print(value);
    parts.push_back(fmt::format("{}: {}", each.name, text.empty() ? "\"\"" : text));
  }
  return fmt::format("{{{}}}", join(parts));
}

/// The schema of such a map, as members of the object that is open in `json`.
template <class T>
void write_schema(std::span<const MapMember<T>> members, JsonWriter& json) {
  json.member("type", "object").member("additionalProperties", false).key("properties").begin_object();
  for (const MapMember<T>& each : members) {
    json.key(each.name).begin_object();
    each.schema(json);
    json.member("description", each.text).end_object();
  }
  json.end_object();
}

/// The member `name` of a map, or a part of it after the first point.
template <class T>
[[nodiscard]] std::optional<PlainValue> member_part(std::span<const MapMember<T>> members, const T& value,
                                                    std::string_view name) {
  const std::size_t point = std::min(name.find('.'), name.size());
  const MapMember<T>* found = find_member(members, name.substr(0, point));
  return found == nullptr ? std::nullopt : found->plain(value, name.substr(std::min(point + 1, name.size())));
}

}  // namespace contend
