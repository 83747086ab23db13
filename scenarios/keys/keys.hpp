#pragma once
// The one table of scenario keys. The strict reader, `contend show`, the JSON Schema, the reference page and `contend
// list keys` are all derived from it.

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/codecs.hpp"

#include <memory>
#include <optional>
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

/// How the value of a key is read, printed and described: one object for each key, one class for each type of value
/// (scenarios/keys/key_rows.hpp), so that the rows of the table are data.
class KeyIo {
 public:
  KeyIo() = default;
  KeyIo(const KeyIo&) = delete;
  KeyIo& operator=(const KeyIo&) = delete;
  virtual ~KeyIo() = default;

  /// Writes the members of the JSON Schema of a value.
  virtual void schema(JsonWriter& json) const = 0;
  /// Stores the value of a node, or reports why it cannot.
  virtual void read(const YamlNode& node, const Reading& reading, Scenario& scenario) const = 0;
  /// Resets the key to "no value" or to its default.
  virtual void reset(Scenario& scenario) const = 0;
  /// The value as YAML on one line; empty if there is none and no word for that.
  [[nodiscard]] virtual std::string print(const Scenario& scenario) const = 0;
  /// The value, or a part of it, as Codec::plain and Codec::part have it.
  [[nodiscard]] virtual std::optional<PlainValue> plain(const Scenario& scenario, PartNames apart) const = 0;
  [[nodiscard]] virtual std::optional<PlainValue> part(const Scenario& scenario, std::string_view name) const = 0;
  /// Shows the paths of the files that the value names, as Codec::paths has them.
  virtual void visit_paths(Scenario& scenario, const PathVisitor& visit) const = 0;

  std::string type;          ///< for people: `integer`, `time`
  std::string range;         ///< for people, or empty
  bool is_optional = false;  ///< the key may have no value
  std::string_view unset;    ///< the word for "no value", or empty
};

/// True if a key has a meaning in this scenario.
using KeyCondition = bool (*)(const Scenario&);

struct ScenarioKey {
  std::string_view path;  ///< `cluster.servers`
  std::string_view text;  ///< one line
  std::shared_ptr<const KeyIo> io;
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
