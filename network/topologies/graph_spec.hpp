#pragma once
// A network listed node by node: easy to fill from a file, checked with the names of the items.

#include "network/topology.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace contend {

struct GraphNode {
  std::string name;
  NodeKind kind = NodeKind::fabric_switch;
  std::optional<std::size_t> server;  ///< of what is inside a server
  bool relay = false;                 ///< a GPU that passes on traffic of others
  bool operator==(const GraphNode&) const = default;
};

struct GraphLink {
  std::string from;
  std::string to;
  /// Per direction. None: that of the NICs, or of links between switches, in a custom fabric; an error in build_graph.
  std::optional<ByteRate> bandwidth;
  std::optional<Time> latency;  ///< none: FabricSpec::link_latency in a custom fabric, 0 in build_graph
  bool both_ways = true;
  std::size_t count = 1;  ///< parallel links; two rows for the same pair and direction are an error
  bool operator==(const GraphLink&) const = default;
};

struct GraphSpec {
  std::vector<GraphNode> nodes;
  std::vector<GraphLink> links;
  bool operator==(const GraphSpec&) const = default;
};

/// A topology with its servers and all. (As a fabric of kind "custom", a graph has switches only and ends of links may
/// be "server3/nic0", or "server3" for each of its NICs.) Throws InputError with all problems; keys are "nodes[2]",
/// "links[4].from" and so on.
[[nodiscard]] Topology build_graph(const GraphSpec& graph);

}  // namespace contend
