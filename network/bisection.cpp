#include "network/bisection.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

namespace contend {

namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Capacity = boost::property<boost::edge_capacity_t, std::int64_t,
                                 boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                                 boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>;
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Capacity>;

constexpr std::size_t kSource = 0;
constexpr std::size_t kSink = 1;

/// The graph for a maximum flow: one half of the servers is the source, the other the sink; switches are vertices.
class Halving {
 public:
  explicit Halving(const Topology& topology) : topology_{topology}, vertex_(topology.nodes().size(), 0) {
    std::size_t next = 2;
    for (std::size_t i = 0; i < vertex_.size(); ++i) {
      if (!topology.nodes()[i].server.valid()) vertex_[i] = next++;
    }
    vertices_ = next;
  }

  std::int64_t flow(const std::vector<bool>& in_first_half, bool forward) {
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> capacities;
    for (const Link& link : topology_.links()) {
      const std::size_t from = vertex(link.from, in_first_half, forward);
      const std::size_t to = vertex(link.to, in_first_half, forward);
      if (from == to || to == kSource || from == kSink) continue;
      capacities[{from, to}] += std::llround(link.bandwidth.bytes_per_second());
    }
    Graph graph(vertices_);
    for (const auto& [ends, capacity] : capacities) {
      // The link back carries a flow of its own, and push-relabel needs an empty reverse edge for each link.
      const auto edge = boost::add_edge(ends.first, ends.second, {capacity, 0}, graph).first;
      const auto reverse = boost::add_edge(ends.second, ends.first, {0, 0}, graph).first;
      boost::put(boost::edge_reverse, graph, edge, reverse);
      boost::put(boost::edge_reverse, graph, reverse, edge);
    }
    return boost::push_relabel_max_flow(graph, kSource, kSink);
  }

 private:
  [[nodiscard]] std::size_t vertex(NodeId node, const std::vector<bool>& in_first_half, bool forward) const {
    const ServerId server = topology_.nodes()[node.index()].server;
    if (!server.valid()) return vertex_[node.index()];
    return in_first_half[server.index()] == forward ? kSource : kSink;
  }

  const Topology& topology_;
  std::vector<std::size_t> vertex_;  // of switches
  std::size_t vertices_ = 0;
};

}  // namespace

Bisection bisection(const Topology& topology) {
  const std::size_t servers = topology.servers();
  if (servers < 2) return {};
  Halving halving{topology};
  Bisection best{ByteRate{}, 0};
  std::vector<bool> in_first_half(servers);
  for (std::size_t period = 2; period <= servers; ++period) {
    const bool odd_whole = period == servers && servers % 2 != 0;
    if (!odd_whole && (period % 2 != 0 || servers % period != 0)) continue;
    std::size_t server = 0;
    for (auto&& is_in : in_first_half) is_in = server++ % period < period / 2;
    const std::int64_t smaller = std::min(halving.flow(in_first_half, true), halving.flow(in_first_half, false));
    const ByteRate rate{static_cast<double>(smaller)};
    if (best.halvings == 0 || rate < best.bandwidth) best.bandwidth = rate;
    ++best.halvings;
  }
  return best;
}

}  // namespace contend
