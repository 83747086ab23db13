#pragma once
// The keys `failures.*` and `checkpoints.*`: what fails, how jobs come back, and what is saved of their work.

#include "scenarios/keys/keys.hpp"
#include "sim/error.hpp"

#include <vector>

namespace contend {

[[nodiscard]] std::vector<ScenarioKey> failure_keys();
[[nodiscard]] std::vector<ScenarioKey> checkpoint_keys();

/// The faults of these keys that only all of them together show; empty if there are none.
[[nodiscard]] std::vector<Complaint> failure_complaints(const FailureSetup& failures,
                                                        const CheckpointSetup& checkpoints, const ClusterSetup& cluster,
                                                        const NetworkSetup& network, const SharingSetup& sharing);

}  // namespace contend
