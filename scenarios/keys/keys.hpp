#pragma once
// The one table of scenario keys. The strict reader, `contend show`, the JSON Schema, the reference page and `contend
// list keys` are all derived from it.

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/part_io.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace contend {

/// How the reader treats a key: as a value, or by a built-in rule.
enum class KeyRole : std::uint8_t {
  value,           ///< an ordinary key
  schema_version,  ///< required in every file
  include,         ///< expanded before values are read; not allowed in overrides
};

/// True if a key has a meaning in this scenario.
using KeyCondition = bool (*)(const Scenario&);

struct ScenarioKey {
  std::string_view path;  ///< `cluster.servers`
  std::string_view text;  ///< one line
  std::shared_ptr<const PartIo<Scenario>> io;
  KeyRole role = KeyRole::value;
  /// Keys, or groups of keys, that are reset when a layer (a file, an override) sets this key to anything but `unset`,
  /// because they say the same thing otherwise. Two keys that displace each other can't be set in one layer.
  std::vector<std::string_view> displaces;
  /// Conditions that must all hold, or the key means nothing. A scenario that sets such a key is refused, unless the
  /// key stopped meaning anything in a later layer than the one that sets it: then it is reset.
  std::vector<KeyCondition> conditions;
  /// The conditions in words, such as `network.fidelity: flow`; empty if there are none.
  std::string_view needs;
};

/// What a key, or a member of the map of a key, is for, as keys/texts.txt says; one without a line there is a broken
/// invariant.
[[nodiscard]] std::string_view key_text(std::string_view path);
/// The text of keys/texts.txt.
[[nodiscard]] std::string_view key_texts();

/// All keys, in the order in which scenarios are printed; keys of one group are adjacent.
[[nodiscard]] const std::vector<ScenarioKey>& scenario_keys();

/// The scenario that an empty file describes.
[[nodiscard]] const Scenario& default_scenario();

/// Takes the value of the key back: it has none if it is optional, else its default.
void reset(const ScenarioKey& key, Scenario& scenario);
/// True if the key has a value in this scenario (an optional key may have none).
[[nodiscard]] bool is_set(const ScenarioKey& key, const Scenario& scenario);
/// True if the key has a meaning in this scenario.
[[nodiscard]] bool applies(const ScenarioKey& key, const Scenario& scenario);
[[nodiscard]] bool displaces(const ScenarioKey& key, const ScenarioKey& other);

}  // namespace contend
