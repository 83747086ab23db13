#pragma once
// Parameter servers on a topology: processes on the hosts of some servers, each of which sums a share of the gradients.
// Every worker pushes its message by itself, cut into a share for each of them, and pulls the sums back.

#include "network/collectives/schedule.hpp"
#include "network/topology.hpp"
#include "sim/graph.hpp"
#include "sim/ids.hpp"

#include <span>
#include <vector>

namespace contend {

inline constexpr int kAsManyAsWorkers = -1;

/// The parameter servers of a job.
struct HostedServers {
  int count = 0;               ///< 0: it has none; or kAsManyAsWorkers
  bool colocated = false;      ///< they run on the job's own servers, dealt out in turn
  std::vector<ServerId> on{};  ///< where they run, in turn; empty, without `colocated`: on the servers that follow the
                               ///< last one of the job and have none of its GPUs, or on its own if there are no others
};

/// For each server the node at which the traffic of processes on its host ends: its first bridge (a root complex), or
/// its first NIC, or its first GPU.
[[nodiscard]] std::vector<NodeId> host_nodes(const Topology& topology);

/// Messages between the nodes of a schedule: rank i is nodes[i].
struct ServedExchange {
  std::vector<NodeId> nodes;  ///< the workers, then the hosts that have parameter servers
  CollectiveSchedule schedule;
};
/// A push of `bytes` by each worker (CollectiveKind::reduce), or a pull (broadcast), in one step of messages between
/// each worker and each host. `hosts` are the host_nodes().
[[nodiscard]] ServedExchange served_exchange(CollectiveKind kind, Bytes bytes, const HostedServers& servers,
                                             std::span<const NodeId> workers, const Topology& topology,
                                             std::span<const NodeId> hosts);

}  // namespace contend
