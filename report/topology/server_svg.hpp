#pragma once
// Draws the inside of a server.

#include "network/topology.hpp"
#include "report/topology/svg_canvas.hpp"

namespace contend {

/// From top to bottom: bridges that only join GPUs (NVSwitch), links between GPUs as arcs, GPUs, PCIe switches, then
/// NICs and sockets. Wider lines have more bandwidth.
[[nodiscard]] SvgCanvas draw_server(const Topology& topology, ServerId server);

}  // namespace contend
