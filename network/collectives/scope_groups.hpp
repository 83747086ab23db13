#pragma once
// The groups of ranks in which a collective of a scope (CollectiveScope) runs, all of them at once.

#include "network/collectives/collective_run.hpp"
#include "network/topology.hpp"
#include "sim/graph.hpp"

#include <span>
#include <vector>

namespace contend {

/// The groups of at least two of these GPUs, each in the order of their ranks: all ranks; the ranks of each server; the
/// first rank of every server; rank k of every server that has so many, for each k; or `groups`, where lists have their
/// own orders.
[[nodiscard]] std::vector<std::vector<NodeId>> scope_groups(CollectiveScope scope, const RankGroups& groups,
                                                            std::span<const NodeId> gpus, const Topology& topology);

/// The flows of groups that run at once: flow i stands for flow i of every group. It moves the bytes of the group that
/// sends most, loads each link with the bytes of all groups, and takes the fixed time of the slowest.
[[nodiscard]] std::vector<CoupledFlow> run_at_once(std::vector<std::vector<CoupledFlow>> groups);

}  // namespace contend
