#include "report/topology/topology_drawing.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/core.h>

namespace contend {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string_view dot_shape(NodeKind kind) {
  switch (kind) {
    case NodeKind::gpu:
      return "box";
    case NodeKind::nic:
      return "hexagon";
    case NodeKind::bridge:
      return "diamond";
    case NodeKind::fabric_switch:
      return "ellipse";
  }
  return "box";
}

}  // namespace

std::string topology_dot(const Topology& topology) {
  const auto nodes = topology.nodes();
  std::string out = "digraph topology {\n  edge [fontsize=9];\n";
  std::vector<std::vector<NodeId>> places(topology.servers() + 1);  // by server; the last: outside
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    places[nodes[i].server.valid() ? nodes[i].server.index() : topology.servers()].emplace_back(i);
  }
  for (std::size_t place = 0; place < places.size(); ++place) {
    const bool is_server = place < topology.servers();
    if (is_server) out += fmt::format("  subgraph cluster_server{} {{\n    label=\"server {}\";\n", place, place);
    for (const NodeId node : places[place]) {
      const Node& it = nodes[node.index()];
      out += fmt::format("{}n{} [label={}, shape={}];\n", is_server ? "    " : "  ", node.value(), quoted(it.name),
                         dot_shape(it.kind));
    }
    if (is_server) out += "  }\n";
  }
  // Equal links between the same nodes become one line with a count; a pair in both directions has two heads.
  std::map<std::tuple<NodeId, NodeId, ByteRate>, std::pair<std::size_t, std::size_t>> lines;
  for (const Link& link : topology.links()) {
    auto& [up, down] = lines[{std::min(link.from, link.to), std::max(link.from, link.to), link.bandwidth}];
    ++(link.from < link.to ? up : down);
  }
  const auto line = [&](NodeId from, NodeId to, std::size_t count, const std::string& rate,
                        std::string_view direction) {
    if (count == 0) return;
    out += fmt::format("  n{} -> n{} [label=\"{}{}\"{}];\n", from.value(), to.value(),
                       count > 1 ? fmt::format("{} x ", count) : "", rate, direction);
  };
  for (const auto& [key, counts] : lines) {
    const auto& [a, b, bandwidth] = key;
    const std::string rate = format_rate(bandwidth);
    const std::size_t cables = std::min(counts.first, counts.second);
    line(a, b, cables, rate, ", dir=both");
    line(a, b, counts.first - cables, rate, "");
    line(b, a, counts.second - cables, rate, "");
  }
  return out + "}\n";
}

}  // namespace contend
