#pragma once
// Drawings of topologies.

#include "network/topology_report.hpp"
#include "report/topology/topology_drawing.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace contend {

/// Graphviz: every node, cables with their bandwidths, a box around every server.
[[nodiscard]] std::string topology_dot(const Topology& topology);

/// A drawing with the fabric and, where there is more than one GPU, the inside of server 0. Large topologies are
/// folded. `dimensions` are those of a torus, whose switches stand in server order; empty: layers by tier, or a circle
/// if the switches are all in one tier.
[[nodiscard]] std::string topology_svg(const Topology& topology, std::span<const std::size_t> dimensions = {});

}  // namespace contend
