#pragma once
// The keys `scheduling.sharing`: which jobs with a duration share GPUs, and how fast they are then.

#include "scenarios/keys/keys.hpp"
#include "sim/error.hpp"

#include <vector>

namespace contend {

[[nodiscard]] std::vector<ScenarioKey> sharing_keys();
/// What is wrong with these keys together, and with a policy that needs them; empty if nothing is.
[[nodiscard]] std::vector<Complaint> sharing_complaints(const PolicyChoice& scheduling, const SharingSetup& sharing);

}  // namespace contend
