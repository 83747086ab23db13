#pragma once
// Values that are maps of named members: codecs of plain structs, lists of such maps, and the members of training
// entries, of which only some are given.

#include "scenarios/yaml/part_io.hpp"
#include "scenarios/yaml/usual_words.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

/// A member of a map that is read into a T.
template <class T>
struct MapMember {
  std::string_view name;
  std::shared_ptr<const PartIo<T>> io;
  bool required = false;
  std::string text;  ///< for people, or empty
};

/// A member of T, or of a base of it.
template <class T, class Value>
[[nodiscard]] MapMember<T> map_member(std::string_view name, std::type_identity_t<Value T::*> member,
                                      Codec<Value> codec, std::string text = {}) {
  return {name, pointer_io<T, Value>(member, std::move(codec)), false, std::move(text)};
}

template <class T, class Value>
[[nodiscard]] MapMember<T> field(std::string_view name, Value T::*member, Codec<Value> codec, bool required = false) {
  return {name, pointer_io<T, Value>(member, std::move(codec)), required, {}};
}

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
    all.push_back({std::string{each.name}, each.io->type, each.io->range, each.text, each.io->print(usual)});
  return all;
}

/// Shows the paths in all members of a map.
template <class T>
void visit_paths(std::span<const MapMember<T>> members, T& map, const PathVisitor& visit) {
  for (const MapMember<T>& each : members) each.io->visit_paths(map, visit);
}

template <class T>
[[nodiscard]] const MapMember<T>* find_member(std::span<const MapMember<T>> members, std::string_view name) {
  const auto found = std::ranges::find(members, name, &MapMember<T>::name);
  return found == members.end() ? nullptr : &*found;
}

/// Names of the members of a map that were given.
using GivenNames = std::set<std::string, std::less<>>;

/// Reports a member that no map of this kind has; the map may have members of these names.
void complain_unknown(const Reading& reading, const YamlNode::Entry& member, const std::vector<std::string>& names);
void complain_missing(const Reading& reading, Place map, std::string_view member);
/// Reports a value that is no map such as `example`.
void expect_map(const Reading& reading, const YamlNode& node, std::string_view example);
/// Adds `name: value` to the inside of a map in flow style.
void append_member(std::string& map, std::string_view name, const std::string& value);

/// Reads the members of a map into `value`, and adds their names to `given`.
template <class T>
void read_members(std::span<const MapMember<T>> members, const YamlNode& map, const Reading& reading, T& value,
                  GivenNames& given) {
  bool knows_all = true;
  for (const YamlNode::Entry& each : map.entries) {
    const std::string key = reading.key.empty() ? each.key : reading.key + "." + each.key;
    const Reading inner{reading.source, key, reading.complaints, reading.files};
    if (const MapMember<T>* found = find_member(members, each.key); found != nullptr) {
      found->io->read(each.value, inner, value);
      given.insert(each.key);
      continue;
    }
    std::vector<std::string> names;
    for (const MapMember<T>& member : members) names.emplace_back(member.name);
    complain_unknown(inner, each, names);
    knows_all = false;
  }
  // An unknown key may be the one that is missing.
  for (const MapMember<T>& each : members)
    if (each.required && knows_all && !given.contains(each.name)) complain_missing(reading, map.place, each.name);
}

/// `{name: value, ...}` of the members that `has` says.
template <class T, class Has>
[[nodiscard]] std::string print_members(std::span<const MapMember<T>> members, const T& value, const Has& has) {
  std::string inside;
  for (const MapMember<T>& each : members)
    if (has(each)) append_member(inside, each.name, each.io->print(value));
  return "{" + inside + "}";
}

/// The schema of such a map, as members of the object that is open in `json`.
template <class T>
void write_schema(std::span<const MapMember<T>> members, JsonWriter& json) {
  json.member("type", "object").member("additionalProperties", false);
  if (std::ranges::any_of(members, &MapMember<T>::required)) {
    json.key("required").begin_array();
    for (const MapMember<T>& each : members)
      if (each.required) json.value(each.name);
    json.end_array();
  }
  json.key("properties").begin_object();
  for (const MapMember<T>& each : members) {
    json.key(each.name).begin_object();
    each.io->schema(json);
    if (!each.text.empty()) json.member("description", each.text);
    json.end_object();
  }
  json.end_object();
}

/// The member `name` of a map, or a part of it after the first point.
template <class T>
[[nodiscard]] std::optional<PlainValue> member_part(std::span<const MapMember<T>> members, const T& value,
                                                    std::string_view name) {
  const std::size_t point = std::min(name.find('.'), name.size());
  const MapMember<T>* found = find_member(members, name.substr(0, point));
  const std::string_view rest = name.substr(std::min(point + 1, name.size()));
  if (found == nullptr) return std::nullopt;
  return rest.empty() ? found->io->plain(value, {}) : found->io->part(value, rest);
}

/// A codec for a map with these members; `example` is shown when the value is no map. A member that need not be given,
/// and is as in T{}, is not printed. With `keeps` members that are not given keep their values, else they have their
/// values in T{}.
template <class T>
[[nodiscard]] Codec<T> map_codec(std::vector<MapMember<T>> members, std::string_view example, bool keeps = false) {
  const auto all = std::make_shared<const std::vector<MapMember<T>>>(std::move(members));
  Codec<T> codec;
  codec.type = "map";
  codec.schema = [all](JsonWriter& json) { write_schema<T>(*all, json); };
  codec.read = [all, example, keeps](const YamlNode& node, const Reading& reading, T& value) {
    if (node.kind != YamlNode::Kind::map) return expect_map(reading, node, example);
    const std::size_t complaints = reading.complaints.size();
    T read = keeps ? value : T{};
    GivenNames given;
    read_members<T>(*all, node, reading, read, given);
    if (reading.complaints.size() == complaints) value = std::move(read);
  };
  codec.print = [all](const T& value) {
    const T usual{};
    return print_members<T>(*all, value, [&](const MapMember<T>& each) {
      return each.required || each.io->print(value) != each.io->print(usual);
    });
  };
  codec.paths = [all](T& value, const PathVisitor& visit) { visit_paths<T>(*all, value, visit); };
  return codec;
}

/// What differs between the kinds of entries that entries_codec() reads. T has the members `name` and `given`, a
/// GivenNames.
template <class T>
struct EntryKind {
  std::span<const MapMember<T>> (*members)();
  const T& (*usual)();                                    ///< an entry that gives nothing
  std::string (*why_not_named)(const std::string& name);  ///< empty: an entry may have that name
  std::string_view example, entry_example;                ///< of the map, and of an entry
  std::size_t most = 0;                                   ///< entries
};

/// A map of names to entries. A later layer replaces single members of an entry and adds entries.
template <class T>
[[nodiscard]] Codec<std::vector<T>> entries_codec(const EntryKind<T>& kind) {
  using Entries = std::vector<T>;
  const auto print_given = [kind](const T& entry) {
    return print_members(kind.members(), entry,
                         [&](const MapMember<T>& each) { return entry.given.contains(each.name); });
  };
  Codec<Entries> codec;
  codec.type = "map of names to entries";
  codec.schema = [kind](JsonWriter& json) {
    json.member("type", "object").key("additionalProperties").begin_object();
    write_schema(kind.members(), json);
    json.end_object();
  };
  codec.read = [kind](const YamlNode& node, const Reading& reading, Entries& value) {
    if (node.kind != YamlNode::Kind::map) return expect_map(reading, node, kind.example);
    if (value.size() + node.entries.size() > kind.most)
      return reading.expected(fmt::format("at most {} entries", kind.most), node);
    // With complaints the scenario is refused; the entries without any are kept, so that they can be checked as well.
    Entries entries = value;
    for (const YamlNode::Entry& each : node.entries) {
      const std::string key = reading.key + "." + each.key;
      const Reading inner{reading.source, key, reading.complaints, reading.files};
      if (const std::string reason = kind.why_not_named(each.key); !reason.empty()) {
        inner.complain(each.place, "can't be the name of an entry: " + reason);
        continue;
      }
      if (each.value.kind != YamlNode::Kind::map) {
        expect_map(inner, each.value, kind.entry_example);
        continue;
      }
      auto entry = std::ranges::find(entries, each.key, &T::name);
      if (entry == entries.end()) {
        entry = entries.insert(entry, kind.usual());
        entry->name = each.key;
      }
      read_members(kind.members(), each.value, inner, *entry, entry->given);
    }
    value = std::move(entries);
  };
  codec.print = [print_given](const Entries& value) {
    if (value.empty()) return std::string{};
    std::string inside;
    for (const T& each : value) append_member(inside, each.name, print_given(each));
    return "{" + inside + "}";
  };
  codec.paths = [kind](Entries& value, const PathVisitor& visit) {
    for (T& each : value) visit_paths(kind.members(), each, visit);
  };
  codec.part = [kind, print_given](const Entries& value, std::string_view name) -> std::optional<PlainValue> {
    const std::size_t point = std::min(name.find('.'), name.size());
    const auto entry = std::ranges::find(value, name.substr(0, point), &T::name);
    if (entry == value.end()) return std::nullopt;
    const std::string_view rest = name.substr(std::min(point + 1, name.size()));
    if (rest.empty()) return PlainValue{print_given(*entry), std::nullopt};
    return member_part(kind.members(), *entry, rest);
  };
  return codec;
}

/// A list of maps or names; complaints number its elements in their key.
template <class T>
[[nodiscard]] Codec<std::vector<T>> numbered_list(Codec<T> item, std::string_view word, std::size_t maximum) {
  Codec<std::vector<T>> codec = list_codec(item, word);
  codec.plain = {};  // as it is printed, also if it holds only one
  codec.read = [item, word, maximum](const YamlNode& node, const Reading& reading, std::vector<T>& value) {
    if (!is_list_of(reading, node, word, maximum)) return;
    value.resize(node.items.size());
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string key = fmt::format("{}[{}]", reading.key, i);
      item.read(node.items[i], Reading{reading.source, key, reading.complaints, reading.files}, value[i]);
    }
  };
  return codec;
}

}  // namespace contend
