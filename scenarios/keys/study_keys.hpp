#pragma once
// The rows of the key table for `overlap.*`.

#include "scenarios/keys/keys.hpp"

#include <vector>

namespace contend {

[[nodiscard]] std::vector<ScenarioKey> study_keys();
/// Whether workers reach each other over a network that is the same for all, described by `network.*`.
[[nodiscard]] bool has_no_links(const Scenario& scenario);
/// The policies that a study compares if it doesn't say which.
[[nodiscard]] std::vector<PolicyChoice> default_fusion();

}  // namespace contend
