#pragma once
// Reads planned routes from a file (`network.routes`): a YAML list of flows with their paths as lists of nodes.
//
//   - from: server0/gpu0
//     to: server4/gpu0
//     label: 2              # number among the flows of the pair; default: all without a route of their own
//     paths:                # nodes between the two, in order of travel
//       - [server0/nic0, leaf0, spine0, leaf1, server4/nic0]
//       - [server0/nic0, leaf0, spine1, leaf1, server4/nic0]
//     shares: [0.75, 0.25]  # of the bytes; default: equal
//
// Bridges inside a server may be omitted: the path then uses the fewest links. Of parallel links, the first is used;
// `spine1#2` reaches spine1 over the second.

#include "network/routing/planned_routes.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Reads a plan. Throws InputError with every syntax fault, every unknown node (with the nearest name) and every pair
/// of nodes without a link. make_plan_router() makes the remaining checks.
[[nodiscard]] std::vector<PlannedRoute> read_route_plan(const std::string& path, const Topology& topology);
/// The same for text in memory; messages call it `name`.
[[nodiscard]] std::vector<PlannedRoute> parse_route_plan(std::string_view text, const std::string& name,
                                                         const Topology& topology);

}  // namespace contend
