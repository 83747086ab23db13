#pragma once
// YAML of Kubernetes as the JSON that `kubectl get -o json` prints.

#include "text/json_reader.hpp"

#include <string>

namespace contend {

/// The documents of the text as the list `items` of an object. Throws InputError with file and line if it is no YAML.
[[nodiscard]] JsonValue read_manifests(const std::string& text, const std::string& file);

}  // namespace contend
