#pragma once
// From a scenario to its topology. Keys in complaints are those of scenarios: `network.fabric.spines`.

#include "network/topologies/spec.hpp"
#include "scenarios/scenario.hpp"
#include "sim/error.hpp"

#include <vector>

namespace contend {

/// The topology that the scenario describes, with the NIC bandwidth of `network.nic`, which must have a value.
[[nodiscard]] TopologySpec topology_spec(const Scenario& scenario);

/// What build_topology() of this scenario would throw before it builds anything; empty if nothing.
[[nodiscard]] std::vector<Diagnostic> topology_complaints(const Scenario& scenario);

/// Its topology, built. Throws InputError.
[[nodiscard]] Topology build_topology(const Scenario& scenario);

}  // namespace contend
