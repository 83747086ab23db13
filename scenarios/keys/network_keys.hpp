#pragma once
// The rows of the key table for `network.*`, which runs of jobs and iteration studies read alike.

#include "scenarios/keys/keys.hpp"

#include <vector>

namespace contend {

[[nodiscard]] std::vector<ScenarioKey> network_keys();

}  // namespace contend
