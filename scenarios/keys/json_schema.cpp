// json_schema(): the key table as JSON Schema.
#include "scenarios/keys/keys.hpp"
#include "scenarios/keys/print.hpp"
#include "text/json_writer.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace contend {
namespace {

void write_key(JsonWriter& json, const ScenarioKey& key) {
  json.begin_object();
  key.io->schema(json);
  std::string text{key.text};
  const std::string usual = key.io->print(default_scenario());
  if (key.role == KeyRole::value && !usual.empty()) text += fmt::format(" (default: {})", usual);
  json.member("description", text).end_object();
}

/// The properties of one group: `keys` are the rows whose paths start with the group's `prefix`.
void write_group(JsonWriter& json, std::span<const ScenarioKey> keys, std::size_t prefix) {
  json.member("type", "object").member("additionalProperties", false);
  json.key("properties").begin_object();
  for (std::size_t i = 0; i < keys.size();) {
    const std::string_view rest = keys[i].path.substr(prefix);
    const std::size_t point = rest.find('.');
    const std::string_view name = rest.substr(0, point);
    json.key(name);
    const bool is_key = point == std::string_view::npos;
    const ScenarioKey& whole = keys[i];
    if (is_key) ++i;
    const std::string group = fmt::format("{}{}.", whole.path.substr(0, prefix), name);
    const std::size_t first = i;
    while (i < keys.size() && keys[i].path.starts_with(group)) ++i;
    const auto parts = [&] {
      json.begin_object();
      write_group(json, keys.subspan(first, i - first), group.size());
      json.end_object();
    };
    if (!is_key) {
      parts();
    } else if (first == i) {
      write_key(json, whole);
    } else {  // one value, or a map of its parts
      json.begin_object().key("anyOf").begin_array();
      write_key(json, whole);
      parts();
      json.end_array().end_object();
    }
  }
  json.end_object();
}

}  // namespace

std::string json_schema() {
  JsonWriter json;
  json.begin_object();
  json.member("$schema", "http://json-schema.org/draft-07/schema#");
  json.member("title", "Contend scenario");
  json.key("required").begin_array().value("schema_version").end_array();
  write_group(json, scenario_keys(), 0);
  json.end_object();
  return json.take();
}

}  // namespace contend
