#pragma once
// Builds the network model of fidelity `flow` from a scenario.

#include "network/collectives/schedule.hpp"
#include "network/link_use.hpp"
#include "network/routing.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/scenario.hpp"
#include "sim/ports.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// Returns the schedule of a collective over these GPUs by `network.collectives`, or by the automatic choice if that
/// algorithm does not support the collective, and puts the GPUs in an order that suits the fabric. With `nccl` it
/// is what NCCL chooses, with the time that it expects. It refers to
/// topology and router.
[[nodiscard]] std::function<CollectiveSchedule(CollectiveKind, Bytes, std::vector<NodeId>&)> collective_scheduler(
    const NetworkSetup& network, const Topology& topology, const Router& router);

/// What a network writes down besides what every run needs, and the data that the network shares with the placement
/// policy of the run.
struct NetworkRecords {
  std::vector<bool> watched;  ///< by job: NetworkReport::delays has its delays; empty: no job's delays
  TakeLinkUses uses;          ///< gets what jobs sent over links, if given
  TakeStalls stalls{};        ///< gets the transfers that stand still at the end, if given
  std::shared_ptr<const ReservedSpines> reserved{};  ///< for make_planning_router(); not written
  std::function<std::string(JobId)> job_name{};      ///< for messages
};

/// Throws InputError for a topology that cannot be built, and for planned routes or link events that cannot be read or
/// that name unknown links. `seed` draws routes and failures. `exchanges` are by job, or
/// empty.
[[nodiscard]] std::unique_ptr<NetworkModel> make_flow_network(const ClusterSetup& cluster, const NetworkSetup& network,
                                                              const FailureSetup& failures, std::uint64_t seed,
                                                              std::size_t jobs, NetworkRecords records = {},
                                                              std::span<const JobExchange> exchanges = {});
/// The same with the topology of the scenario and a router of the caller's.
[[nodiscard]] std::unique_ptr<NetworkModel> make_flow_network(const NetworkSetup& network, const FailureSetup& failures,
                                                              std::unique_ptr<const Topology> topology,
                                                              std::unique_ptr<Router> router, std::uint64_t seed,
                                                              std::size_t jobs, NetworkRecords records = {},
                                                              std::span<const JobExchange> exchanges = {});

}  // namespace contend
