#pragma once
// Builds the topology, the routes and the link events that a scenario describes. Complaints use the scenario's keys:
// `network.fabric.spines`.

#include "network/link_changes.hpp"
#include "network/routing.hpp"
#include "network/topologies/topology_spec.hpp"
#include "scenarios/scenario.hpp"
#include "sim/error.hpp"
#include "traces/link_events.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace contend {

/// The topology of the scenario, with the NIC bandwidth of `network.nic`, which must have a value.
[[nodiscard]] TopologySpec topology_spec(const NetworkSetup& network);

/// The complaints with which build_topology() would fail before it builds anything; empty if there are none.
[[nodiscard]] std::vector<Complaint> topology_complaints(const ClusterSetup& cluster, const NetworkSetup& network);

/// Builds the topology. Throws InputError.
[[nodiscard]] Topology build_topology(const ClusterSetup& cluster, const NetworkSetup& network);

/// Builds the router: planned routes (`network.routes`), and `network.routing` for all other flows. `seed` seeds the
/// ECMP hash. Planned paths keep jobs on the spines that are `reserved` for them. The topology must outlive the router.
/// Throws InputError for a plan that cannot be followed.
[[nodiscard]] std::unique_ptr<Router> build_router(const NetworkSetup& network, const Topology& topology,
                                                   std::uint64_t seed,
                                                   std::shared_ptr<const ReservedSpines> reserved = {});

/// The events of `network.events`, by time; empty if there is no such file. Throws InputError.
[[nodiscard]] std::vector<LinkEvent> link_changes(const NetworkSetup& network, const Topology& topology);

/// The parts of the fabric that fail by laws (`failures.components` of links, interfaces and switches). Throws
/// InputError if the fabric has none of a kind.
[[nodiscard]] std::vector<FailingLinks> failing_links(const FailureSetup& failures, const Topology& topology);

}  // namespace contend
