#pragma once
// The one table of scenario keys. The strict reader, `contend show`, the JSON Schema, the reference page and
// `contend list keys` are all made from it; a new key is one row in keys.cpp.

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/codecs.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// What is left to the built-in reader of a key that holds no member of Scenario.
enum class KeyRole : std::uint8_t {
  value,           ///< an ordinary key
  schema_version,  ///< required in every file, and 1
  include,         ///< expanded before values are read; not for overrides
};

struct ScenarioKey {
  std::string_view path;     ///< `cluster.servers`
  std::string type;          ///< for people: `integer`, `time`
  std::string range;         ///< for people, or empty
  std::string_view text;     ///< one line
  bool is_optional = false;  ///< it may have no value
  std::string_view unset;    ///< the word that says so, or empty
  /// Keys, or groups of keys, that are reset when a layer (a file, an override) sets this key to anything but `unset`,
  /// because they say the same thing otherwise. Two keys that displace each other can't be set in one layer.
  std::vector<std::string_view> displaces;
  /// What `applies` asks for, in words such as `network.fidelity: flow`; empty: nothing.
  std::string_view needs;
  KeyRole role = KeyRole::value;

  std::function<void(JsonWriter&)> schema;  ///< writes the members of its JSON Schema
  /// Stores the value of a node, or complains.
  std::function<void(const YamlNode&, const Reading&, Scenario&)> read;
  /// Back to "no value" or to the default.
  std::function<void(Scenario&)> reset;
  /// Whether the key means anything in this scenario; empty: always. A scenario that sets one that doesn't is refused,
  /// unless it stopped meaning anything in a later layer than the one that sets it: then it is reset.
  std::function<bool(const Scenario&)> applies;
  /// The value in YAML on one line; empty if there is none and no word for that.
  std::function<std::string(const Scenario&)> print;
};

/// In the order in which scenarios are printed; keys of one group stand together.
[[nodiscard]] const std::vector<ScenarioKey>& scenario_keys();

/// What an empty scenario means.
[[nodiscard]] const Scenario& default_scenario();

/// Whether the key has a value in this scenario (an optional may have none).
[[nodiscard]] bool is_set(const ScenarioKey& key, const Scenario& scenario);
/// Whether the key means anything in this scenario.
[[nodiscard]] bool applies(const ScenarioKey& key, const Scenario& scenario);
[[nodiscard]] bool displaces(const ScenarioKey& key, const ScenarioKey& other);

}  // namespace contend
