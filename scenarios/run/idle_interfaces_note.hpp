#pragma once
// Warns of interfaces of a server that sit idle beside busy ones of the same server.

#include "scenarios/scenario.hpp"
#include "sim/result.hpp"

#include <string>

namespace contend {

/// What an all-reduce over all GPUs of the first two servers leaves idle under `network.collectives`; empty if nothing
/// does, and at other fidelities than `flow`. Throws InputError for a network that can't be built.
[[nodiscard]] std::string expected_idle_interfaces(const ClusterSetup& cluster, const NetworkSetup& network,
                                                   std::uint64_t seed);

/// What the jobs of a run left idle, with the first such job; empty if they left nothing.
[[nodiscard]] std::string seen_idle_interfaces(const ClusterSetup& cluster, const NetworkSetup& network,
                                               const RunResult& result);

}  // namespace contend
