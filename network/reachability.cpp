#include "network/reachability.hpp"

#include <cstdint>
#include <numeric>

namespace contend {

namespace {

/// Searches along the links or against them.
class Search {
 public:
  explicit Search(const Topology& topology)
      : topology_{topology}, first_in_(topology.nodes().size() + 1), in_(topology.links().size()) {
    for (const Link& link : topology.links()) ++first_in_[link.to.index() + 1];
    std::partial_sum(first_in_.begin(), first_in_.end(), first_in_.begin());
    std::vector<std::size_t> next = first_in_;
    for (std::size_t i = 0; i < in_.size(); ++i) in_[next[topology.links()[i].to.index()]++] = LinkId{i};
  }

  /// The nodes that a flow from `start` can reach (forward), or from which one can reach `start`. A flow never leaves a
  /// server that it has entered: only nodes of the server of `start` forward it into the fabric.
  std::vector<std::uint8_t> reached(NodeId start, bool forward) const {
    const auto nodes = topology_.nodes();
    std::vector<std::uint8_t> seen(nodes.size());
    std::vector<NodeId> stack{start};
    seen[start.index()] = 1;
    while (!stack.empty()) {
      const NodeId at = stack.back();
      stack.pop_back();
      const Node& node = nodes[at.index()];
      if (at != start && !node.relays) continue;
      const bool visiting = node.server.valid() && node.server != nodes[start.index()].server;
      for (const LinkId link : forward ? topology_.out(at) : in(at)) {
        const Link& step = topology_.links()[link.index()];
        const NodeId to = forward ? step.to : step.from;
        if (seen[to.index()] != 0 || (visiting && nodes[to.index()].server != node.server)) continue;
        seen[to.index()] = 1;
        stack.push_back(to);
      }
    }
    return seen;
  }

 private:
  std::span<const LinkId> in(NodeId node) const {
    return std::span{in_}.subspan(first_in_[node.index()], first_in_[node.index() + 1] - first_in_[node.index()]);
  }

  const Topology& topology_;
  std::vector<std::size_t> first_in_;
  std::vector<LinkId> in_;
};

/// True if all GPUs reach one switch and are reached from it; then every pair has a path.
bool joined_by_a_switch(const Topology& topology, const Search& search) {
  const auto nodes = topology.nodes();
  const std::vector<std::uint8_t> from_first = search.reached(topology.gpus()[0], true);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (from_first[i] == 0 || nodes[i].kind != NodeKind::fabric_switch) continue;
    const std::vector<std::uint8_t> forward = search.reached(NodeId{i}, true);
    const std::vector<std::uint8_t> backward = search.reached(NodeId{i}, false);
    for (const NodeId gpu : topology.gpus()) {
      if (forward[gpu.index()] == 0 || backward[gpu.index()] == 0) return false;
    }
    return true;
  }
  return false;
}

}  // namespace

std::vector<std::pair<NodeId, NodeId>> gpus_without_path(const Topology& topology, std::size_t limit) {
  std::vector<std::pair<NodeId, NodeId>> pairs;
  const Search search{topology};
  if (joined_by_a_switch(topology, search)) return pairs;
  for (const NodeId from : topology.gpus()) {
    const std::vector<std::uint8_t> seen = search.reached(from, true);
    for (const NodeId to : topology.gpus()) {
      if (pairs.size() == limit) return pairs;
      if (seen[to.index()] == 0) pairs.emplace_back(from, to);
    }
  }
  return pairs;
}

}  // namespace contend
