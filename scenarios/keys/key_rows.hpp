#pragma once
// How the files that hold rows of the key table write them.

#include "scenarios/keys/keys.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace contend::key_rows {

inline constexpr Time kHour = Time::seconds(3600);
inline constexpr Time kDay = 24 * kHour;

inline ScenarioKey key_of(std::string_view path, std::unique_ptr<const PartIo<Scenario>> io, std::string_view text) {
  ScenarioKey key;
  key.path = path;
  key.text = text;
  key.io = std::move(io);
  return key;
}

/// A key whose value is taken from a scenario by `get` and put into it by `set`.
template <class T>
ScenarioKey property(std::string_view path, decltype(PropertyAccess<Scenario, T>::value) get,
                     decltype(PropertyAccess<Scenario, T>::set) set, Codec<T> codec, std::string_view text) {
  return key_of(path, part_io<Scenario>(PropertyAccess<Scenario, T>{get, set}, std::move(codec)), text);
}

/// A key that is one member of a scenario, as member_access() has it.
template <class T, class Member>
ScenarioKey row(std::string_view path, Member member, Codec<T> codec, std::string_view text) {
  return key_of(path, part_io<Scenario>(member_access<Scenario, T>(member), std::move(codec)), text);
}

/// A key that takes the place of others: they are no longer given where it is.
inline ScenarioKey displacing(std::vector<std::string_view> others, ScenarioKey key) {
  key.displaces = std::move(others);
  return key;
}

/// A key that a scenario has only if `holds`; `needs` says in words what that is.
inline ScenarioKey where(ScenarioKey key, KeyCondition holds, std::string_view needs) {
  key.conditions = {holds};
  key.needs = needs;
  return key;
}

/// A value that need not be given, and has no word for that.
template <class T>
Codec<std::optional<T>> maybe(Codec<T> codec) {
  return optional_codec(std::move(codec), "");
}

}  // namespace contend::key_rows
