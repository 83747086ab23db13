#pragma once
// The keys `loans.*`: servers that others lend to the cluster.

#include "scenarios/keys/keys.hpp"
#include "sim/error.hpp"

#include <vector>

namespace contend {

[[nodiscard]] std::vector<ScenarioKey> loan_keys();

/// The faults of these keys that only all of them together show; empty if there are none.
[[nodiscard]] std::vector<Complaint> loan_complaints(const LoanSetup& loans, const ClusterSetup& cluster,
                                                     const FailureSetup& failures, const SharingSetup& sharing);

}  // namespace contend
