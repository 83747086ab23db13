#pragma once
// Groups servers that are near each other in the fabric.

#include "network/link_matrix.hpp"
#include "network/topology.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// The group of each server, for each tier of switches (tiers_of) from the lowest up. Servers are in one group of a
/// tier if a path joins them that uses only switches of that tier and lower ones: the servers of a leaf, then the
/// servers of a pod, and so on. Groups are numbered in order of their first servers. Tiers that join no further servers
/// are left out; in the last tier all servers are in one group.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> server_groups(const Topology& topology);
/// The same of sites, each with one server: in the lowest tier sites are in one group if links of the highest rate join
/// them, in each higher one if links of the next lower rate do, and so on; of a pair of links the slower direction
/// counts (OP-Fence of FusionLLM, Tang et al., arXiv 2410.12707, clusters devices by bandwidth). Sites that no links
/// join are in one group of the last tier, too.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> site_groups(const LinkMatrix& sites);

}  // namespace contend
