#pragma once
// Which servers are near each other.

#include "network/topology.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// By tier of the switches (tiers_of), the lowest first: the group of each server. Servers are in one group if a path
/// joins them over switches of that tier and lower ones alone: those of a leaf, then those of a pod, and so on. Groups
/// are numbered by their first server. A tier that joins nothing new is left out; in the last one all are together.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> server_groups(const Topology& topology);

}  // namespace contend
