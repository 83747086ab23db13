#pragma once
// How the files that hold rows of the key table write them.

#include "scenarios/keys/keys.hpp"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace contend::key_rows {

inline constexpr Time kHour = Time::seconds(3600);
inline constexpr Time kDay = 24 * kHour;

template <class T>
void clear(T& value, const T& fallback) {
  value = fallback;
}
template <class T>
void clear(std::optional<T>& value, const std::optional<T>&) {
  value.reset();
}

/// A key whose value is taken from a scenario by `get` and put into it by `set`.
template <class T, class Get, class Set>
ScenarioKey property(std::string_view path, Get get, Set set, const Codec<T>& codec, std::string_view text) {
  ScenarioKey key;
  key.path = path;
  key.type = codec.type;
  key.range = codec.range;
  key.text = text;
  key.is_optional = codec.is_optional;
  key.unset = codec.unset;
  key.schema = codec.schema;
  key.read = [get, set, codec](const YamlNode& node, const Reading& reading, Scenario& scenario) {
    T value = get(scenario);
    codec.read(node, reading, value);
    set(scenario, std::move(value));
  };
  key.reset = [get, set](Scenario& scenario) {
    T value = get(scenario);
    clear(value, T{get(default_scenario())});
    set(scenario, std::move(value));
  };
  key.print = [get, codec](const Scenario& scenario) { return codec.print(get(scenario)); };
  return key;
}

/// A key that is one member of a scenario; `member` returns a reference to it.
template <class T, class Member>
ScenarioKey row(std::string_view path, Member member, const Codec<T>& codec, std::string_view text) {
  return property<T>(
      path, [member](const Scenario& s) -> const T& { return member(s); },
      [member](Scenario& s, T value) { member(s) = std::move(value); }, codec, text);
}

/// A key that takes the place of others: they are no longer given where it is.
inline ScenarioKey displacing(std::vector<std::string_view> others, ScenarioKey key) {
  key.displaces = std::move(others);
  return key;
}

}  // namespace contend::key_rows
