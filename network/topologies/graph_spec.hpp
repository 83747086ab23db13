#pragma once
// GraphSpec lists a network node by node and link by link, as a file does. Complaints name the items.

#include "network/topology.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// A node of the list.
struct GraphNode {
  std::string name;
  NodeKind kind = NodeKind::fabric_switch;
  std::optional<std::size_t> server;  ///< the server of a node inside one
  bool relay = false;                 ///< true for a GPU that forwards traffic of other nodes
  bool operator==(const GraphNode&) const = default;
};

/// A link of the list, or several parallel ones.
struct GraphLink {
  std::string from;
  std::string to;
  /// Per direction. None: the default of NICs or of links between switches in a custom fabric; an error in build_graph.
  std::optional<ByteRate> bandwidth;
  std::optional<Time> latency;  ///< none: FabricSpec::link_latency in a custom fabric, 0 in build_graph
  bool both_ways = true;
  std::size_t count = 1;  ///< parallel links; two rows for the same pair and direction are an error
  bool operator==(const GraphLink&) const = default;
};

/// A whole network.
struct GraphSpec {
  std::vector<GraphNode> nodes;
  std::vector<GraphLink> links;
  bool operator==(const GraphSpec&) const = default;
};

/// Builds a topology from a graph that lists servers and fabric. (As a fabric of kind "custom", a graph has switches
/// only, and ends of links may be "server3/nic0", or "server3" for each of its NICs.) Throws InputError with all
/// problems; their keys are "nodes[2]", "links[4].from" and so on.
[[nodiscard]] Topology build_graph(const GraphSpec& graph);

}  // namespace contend
