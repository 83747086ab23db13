#pragma once
// How the files that hold rows of the key table write them.

#include "scenarios/keys/keys.hpp"
#include "scenarios/yaml/map_codec.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend::key_rows {

inline constexpr Time kHour = Time::seconds(3600);
inline constexpr Time kDay = 24 * kHour;

inline ScenarioKey key_of(std::string_view path, std::unique_ptr<const PartIo<Scenario>> io) {
  ScenarioKey key;
  key.path = path;
  key.text = key_text(path);
  key.io = std::move(io);
  return key;
}

/// A key whose value is taken from a scenario by `get` and put into it by `set`.
template <class T>
ScenarioKey property(std::string_view path, typename PropertyIo<Scenario, T>::Get get,
                     typename PropertyIo<Scenario, T>::Set set, Codec<T> codec) {
  return key_of(path, property_io<Scenario, T>(get, set, std::move(codec)));
}

/// The part of a scenario that is of this type, or derived from it.
template <class Part, class AnyScenario>
auto& part_of(AnyScenario& s) {
  using std::is_same_v;
  if constexpr (std::is_base_of_v<Part, Scenario>) return s;
  if constexpr (is_same_v<Part, CheckpointSetup>) return s.checkpoints;
  if constexpr (is_same_v<Part, ClusterSetup>) return s.cluster;
  if constexpr (is_same_v<Part, Detectors>) return s.failures.detectors;
  if constexpr (is_same_v<Part, FailureSetup>) return s.failures;
  if constexpr (is_same_v<Part, GeneratedWorkload>) return s.workload.generate;
  if constexpr (is_same_v<Part, IterationStudy>) return s.overlap;
  if constexpr (is_same_v<Part, ListSampling>) return s.workload.sampling;
  if constexpr (is_same_v<Part, LoanSetup>) return s.loans;
  if constexpr (is_same_v<Part, MeasureSetup>) return s.measure;
  if constexpr (is_same_v<Part, MeterSetup>) return s.meter;
  if constexpr (is_same_v<Part, Mitigation>) return s.failures.mitigation;
  if constexpr (is_same_v<Part, NetworkSetup>) return s.network;
  if constexpr (is_same_v<Part, NetworkSetup::Inside>) return s.network.inside;
  if constexpr (is_same_v<Part, NetworkSetup::ManySenders>) return s.network.many_senders;
  if constexpr (is_same_v<Part, NetworkSetup::Nccl>) return s.network.nccl;
  if constexpr (is_same_v<Part, RedundancyRule>) return s.failures.redundancy;
  if constexpr (is_same_v<Part, Scenario::Engine>) return s.engine;
  if constexpr (is_same_v<Part, SchedulingRules>) return s.rules;
  if constexpr (is_same_v<Part, SharingSetup>) return s.sharing;
  if constexpr (is_same_v<Part, SweepSpec>) return s.sweep;
  if constexpr (std::is_base_of_v<Part, SyntheticWorkload>) return s.workload.synthetic;
  if constexpr (is_same_v<Part, WorkloadSetup>) return s.workload;
}

template <class Part, class T>
Part class_of(T Part::*);

/// A key that is one member of a part of a scenario, such as &ClusterSetup::servers.
template <auto Member, class T>
ScenarioKey row(std::string_view path, Codec<T> codec) {
  using Part = decltype(class_of(Member));
  const auto member = [](auto& scenario) -> auto& {
    return part_of<Part>(scenario).*Member;
  };
  return key_of(path, member_io<Scenario, T>(member, std::move(codec)));
}

/// A key that is a member of a scenario, as member_io() has it.
template <class T, class Member>
ScenarioKey row(std::string_view path, Member member, Codec<T> codec) {
  return key_of(path, member_io<Scenario, T>(member, std::move(codec)));
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

/// The members of a map with what keys/texts.txt says of `group.name`, unless they have a text.
template <class T>
std::vector<MapMember<T>> with_texts(std::string_view group, std::vector<MapMember<T>> members) {
  for (MapMember<T>& each : members)
    if (each.text.empty()) each.text = key_text(fmt::format("{}.{}", group, each.name));
  return members;
}

/// A map with these members, which exist as long as the program.
template <class T>
[[nodiscard]] Codec<T> map_of(std::span<const MapMember<T>> rows, std::string_view example) {
  Codec<T> codec = map_codec<T>({rows.begin(), rows.end()}, example, true);
  codec.part = [rows](const T& value, std::string_view name) { return member_part(rows, value, name); };
  return codec;
}

/// A value that need not be given, and has no word for that.
template <class T>
Codec<std::optional<T>> maybe(Codec<T> codec) {
  return optional_codec(std::move(codec), "");
}

/// As map_of(); there may be no map.
template <class T>
[[nodiscard]] Codec<std::optional<T>> maybe_map(std::span<const MapMember<T>> rows, std::string_view example) {
  Codec<std::optional<T>> codec = maybe(map_of(rows, example));
  codec.part = [rows](const std::optional<T>& value, std::string_view name) {
    return value ? member_part(rows, *value, name) : std::optional<PlainValue>{};
  };
  return codec;
}

}  // namespace contend::key_rows
