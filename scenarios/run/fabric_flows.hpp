#pragma once
// Runs a list of flows on the network of a scenario, without jobs: flow completion times, as papers on transports and
// fabrics publish them.

#include "scenarios/scenario.hpp"
#include "sim/units.hpp"
#include "traces/flow_list.hpp"

#include <optional>
#include <span>
#include <vector>

namespace contend {

/// What became of a flow.
struct FlowOutcome {
  Time ideal;               ///< the time that it would take alone, on its route through the network as built; > 0
  std::optional<Time> end;  ///< instant at which its last byte arrives; none: it has no route for ever
};

/// The outcomes of the flows, in their order, on the idle network of a scenario of fidelity `flow`: each is a message
/// that takes `network.alpha`, `network.step_overhead`, the latency of its route, and the time to send its bytes at its
/// max-min fair rate. The scenario gives routing, planned routes and link events. The label of a flow (`label`
/// of planned routes, what ECMP hashes) is its number among the flows of its pair in order of start and row, from 0.
/// Throws InputError as make_flow_network().
[[nodiscard]] std::vector<FlowOutcome> run_flows(const ClusterSetup& cluster, const NetworkSetup& network,
                                                 const FailureSetup& failures, std::uint64_t seed,
                                                 std::span<const ListedFlow> flows);

}  // namespace contend
