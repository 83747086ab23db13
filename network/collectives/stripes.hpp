#pragma once
// Lets the rings of a collective use all interfaces of its servers, one ring for each, as the channels of NCCL do.

#include "network/topology.hpp"

#include <span>
#include <vector>

namespace contend {

/// The order of the ranks in each stripe (CollectiveShape::stripes); rank i is order[i]. There are as many stripes
/// as the server with most has interfaces that are GPUs' own (network/routing/near_interfaces.hpp); a server with fewer
/// uses them in turn. All stripes visit the servers in the same order. Stripe c enters a server at the GPU of its
/// interface c, goes around the GPUs as `order` does, forwards or backwards, and leaves at the last: of the two
/// directions the one whose last GPU is near that interface, too. If both are, even stripes go backwards, so that two
/// stripes exchange their GPUs; if neither is, all go forwards. On a rail-optimised fabric each stripe stays in a
/// rail, if flows do so (network/routing/rail_proxy.hpp).
///
/// {}, one stripe in order of rank, if the GPUs are in one server, if `order` does not keep servers together, or if
/// one stripe uses all interfaces there are.
[[nodiscard]] std::vector<std::vector<int>> ring_stripes(std::span<const NodeId> order, const Topology& topology);

}  // namespace contend
