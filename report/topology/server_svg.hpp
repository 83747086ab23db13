#pragma once
// The inside of a server as a drawing.

#include "network/topology.hpp"
#include "report/topology/svg_canvas.hpp"

namespace contend {

/// From top to bottom: bridges that only join GPUs (NVSwitch), links between GPUs as arcs, GPUs, PCIe switches, and
/// below them NICs and sockets. Wide lines carry more.
[[nodiscard]] SvgCanvas draw_server(const Topology& topology, ServerId server);

}  // namespace contend
