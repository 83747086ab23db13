#pragma once
// Hints for unknown keys.

#include "scenarios/yaml/yaml_tree.hpp"

#include <string>

namespace contend {

/// A hint for an unknown key below `prefix` (empty, or ending in a dot): its present name, the key that is meant, the
/// nearest key at this place, the place where the name belongs, or the group that has the keys of its value; empty if
/// there is none.
[[nodiscard]] std::string unknown_key_hint(const std::string& name, const std::string& prefix, const YamlNode& value);

}  // namespace contend
