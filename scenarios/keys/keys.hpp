#pragma once
// The one table of scenario keys. The strict reader, `contend show`, the JSON Schema, the reference page and `contend
// list keys` are all derived from it.

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/codecs.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// How the reader treats a key: as a value, or by a built-in rule.
enum class KeyRole : std::uint8_t {
  value,           ///< an ordinary key
  schema_version,  ///< required in every file; must be 1
  include,         ///< expanded before values are read; not allowed in overrides
};

/// One key of a scenario.
struct ScenarioKey {
  std::string_view path;     ///< `cluster.servers`
  std::string type;          ///< for people: `integer`, `time`
  std::string range;         ///< for people, or empty
  std::string_view text;     ///< one line
  bool is_optional = false;  ///< the key may have no value
  std::string_view unset;    ///< the word for "no value", or empty
  /// Other keys, or groups of keys, that express the same thing. They are reset when a layer (a file or an override)
  /// sets this key to anything but `unset`. One layer must not set two keys that displace each other.
  std::vector<std::string_view> displaces;
  /// The condition of `applies` in words, such as `network.fidelity: flow`; empty if there is none.
  std::string_view needs;
  KeyRole role = KeyRole::value;

  std::function<void(JsonWriter&)> schema;  ///< writes the members of its JSON Schema
  /// Stores the value of a node, or reports why it cannot.
  std::function<void(const YamlNode&, const Reading&, Scenario&)> read;
  /// Resets the key to "no value" or to its default.
  std::function<void(Scenario&)> reset;
  /// True if the key has a meaning in this scenario; empty for always. A scenario that sets a key without meaning is
  /// rejected, unless a later layer than the one that sets it took the meaning away: then the key is reset.
  std::function<bool(const Scenario&)> applies;
  /// The value as YAML on one line; empty if there is none and no word for that.
  std::function<std::string(const Scenario&)> print;
};

/// All keys, in the order in which scenarios are printed; keys of one group are adjacent.
[[nodiscard]] const std::vector<ScenarioKey>& scenario_keys();

/// The scenario that an empty file describes.
[[nodiscard]] const Scenario& default_scenario();

/// True if the key has a value in this scenario (an optional key may have none).
[[nodiscard]] bool is_set(const ScenarioKey& key, const Scenario& scenario);
/// True if the key has a meaning in this scenario.
[[nodiscard]] bool applies(const ScenarioKey& key, const Scenario& scenario);
[[nodiscard]] bool displaces(const ScenarioKey& key, const ScenarioKey& other);

}  // namespace contend
