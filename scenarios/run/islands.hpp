#pragma once
// Islands are servers with a network of their own beside the one that joins all servers (`network.islands`): clusters
// with InfiniBand and clusters with RoCE, for example, which Ethernet joins (Yang et al., "Holmes", arXiv 2312.03549).

#include "scenarios/scenario.hpp"
#include "sim/error.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// The network that joins all servers, in place of the number of an island.
inline constexpr int kNoIsland = -1;
/// By server, the island that it is on; kNoIsland: on none.
[[nodiscard]] std::vector<int> islands_of_servers(const ClusterSetup& cluster, const NetworkSetup& network);
/// What is wrong with `network.islands`.
[[nodiscard]] std::vector<Complaint> island_complaints(const ClusterSetup& cluster, const NetworkSetup& network,
                                                       const IterationStudy& study);
/// The island that has the first so many servers of the cluster; kNoIsland if none has all of them, or one server.
[[nodiscard]] int island_of_first(const NetworkSetup& network, int servers);

/// The islands as groups of servers (PolicyContext::server_groups): each island, then all servers. The servers on none
/// are a group like the servers of an island. Empty if there are no islands.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> island_groups(const ClusterSetup& cluster,
                                                                    const NetworkSetup& network);

}  // namespace contend
