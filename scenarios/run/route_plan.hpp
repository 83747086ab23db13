#pragma once
// Planned routes in a file (`network.routes`): a YAML list of flows with their paths as lists of nodes.
//
//   - from: server0/gpu0
//     to: server4/gpu0
//     label: 2              # of the flow among those of the pair; without it: all that have no route of their own
//     paths:                # nodes between the two, in order of travel
//       - [server0/nic0, leaf0, spine0, leaf1, server4/nic0]
//       - [server0/nic0, leaf0, spine1, leaf1, server4/nic0]
//     shares: [0.75, 0.25]  # of the bytes; without it: equal
//
// Bridges inside a server may be left out: the fewest links are taken there. Of parallel links the first is taken;
// `spine1#2` reaches spine1 over the second.

#include "network/routing/planned_routes.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Throws InputError with every mistake of the form, every unknown node (and the nearest that there is) and every pair
/// of nodes without a link. What make_plan_router() checks is left to it.
[[nodiscard]] std::vector<PlannedRoute> read_route_plan(const std::string& path, const Topology& topology);
/// The same for text in memory; `name` stands for the file in messages.
[[nodiscard]] std::vector<PlannedRoute> parse_route_plan(std::string_view text, const std::string& name,
                                                         const Topology& topology);

}  // namespace contend
