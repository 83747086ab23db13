#pragma once
// The rows of the key table for `overlap.*`.

#include "scenarios/keys.hpp"

#include <vector>

namespace contend {

[[nodiscard]] std::vector<ScenarioKey> overlap_keys();
/// The policies that a study compares if it doesn't say which.
[[nodiscard]] std::vector<PolicyChoice> default_fusion();

}  // namespace contend
