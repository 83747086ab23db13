#pragma once
// Groups servers that are near each other in the fabric.

#include "network/topology.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// The group of each server, for each tier of switches (tiers_of) from the lowest up. Servers are in one group of a
/// tier if a path joins them that uses only switches of that tier and lower ones: the servers of a leaf, then those of
/// a pod, and so on. Groups are numbered in order of their first servers. Tiers that join no further servers are left
/// out; in the last tier all servers are in one group.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> server_groups(const Topology& topology);

}  // namespace contend
