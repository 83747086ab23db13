#pragma once
// The GPUs that jobs can have.

#include "scenarios/spec/cluster_setup.hpp"
#include "scenarios/spec/failure_setup.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// The GPUs of each type of servers, or of the cluster, that jobs can have at once. The last servers of the cluster are
/// spares: they only take the places of others.
[[nodiscard]] std::vector<std::int64_t> usable_gpus(const ClusterSetup& cluster, const FailureSetup& failures);
/// Their sum over the types.
[[nodiscard]] std::int64_t gpus_of(const ClusterSetup& cluster, const FailureSetup& failures);

}  // namespace contend
