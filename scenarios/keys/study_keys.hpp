#pragma once
// The rows of the key table for `overlap.*`.

#include "scenarios/keys/keys.hpp"

#include <vector>

namespace contend {

[[nodiscard]] std::vector<ScenarioKey> study_keys();

}  // namespace contend
