#pragma once
// From a scenario to its topology, routes and link events. Keys in complaints are those of scenarios:
// `network.fabric.spines`.

#include "network/routing.hpp"
#include "network/topologies/topology_spec.hpp"
#include "scenarios/scenario.hpp"
#include "sim/error.hpp"
#include "traces/link_events.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace contend {

/// The topology that the scenario describes, with the NIC bandwidth of `network.nic`, which must have a value.
[[nodiscard]] TopologySpec topology_spec(const Scenario& scenario);

/// What build_topology() of this scenario would throw before it builds anything; empty if nothing.
[[nodiscard]] std::vector<Complaint> topology_complaints(const Scenario& scenario);

/// Its topology, built. Throws InputError.
[[nodiscard]] Topology build_topology(const Scenario& scenario);

/// The routes of its flows: planned routes (`network.routes`), and `network.routing` for all others. `seed` is that of
/// the hash of ECMP. The topology must outlive the router. Throws InputError for a plan that can't be followed.
[[nodiscard]] std::unique_ptr<Router> build_router(const Scenario& scenario, const Topology& topology,
                                                   std::uint64_t seed);

/// The events of `network.events`, by time; empty without. Throws InputError.
[[nodiscard]] std::vector<LinkEvent> link_changes(const Scenario& scenario, const Topology& topology);

}  // namespace contend
