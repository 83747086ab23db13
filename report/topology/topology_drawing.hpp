#pragma once
// Draws topologies.

#include "network/topology_report.hpp"
#include "report/topology/topology_drawing.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace contend {

/// The topology for Graphviz: every node, cables with their bandwidths, and a box around every server.
[[nodiscard]] std::string topology_dot(const Topology& topology);

/// An SVG drawing of the fabric and, if a server has more than one GPU, of the inside of server 0. Large topologies are
/// folded. `dimensions` are the sides of a torus, whose switches are in server order; if empty, the drawing has layers
/// by tier, or a circle if all switches are in one tier.
[[nodiscard]] std::string topology_svg(const Topology& topology, std::span<const std::size_t> dimensions = {});

}  // namespace contend
