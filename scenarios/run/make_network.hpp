#pragma once
// Makes the network model that a scenario describes.

#include "scenarios/run/flow_fidelity.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/scenario.hpp"
#include "sim/ports.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace contend {

/// The network of the scenario's fidelity, for so many jobs. The seed draws the paths of routing that is random.
/// `exchanges` are as in transfer_costs().
[[nodiscard]] std::unique_ptr<NetworkModel> make_network(const ClusterSetup& cluster, const NetworkSetup& network,
                                                         const FailureSetup& failures, std::uint64_t seed,
                                                         std::size_t jobs, NetworkRecords records = {},
                                                         const std::vector<JobExchange>& exchanges = {});

}  // namespace contend
