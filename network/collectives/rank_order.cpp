#include "network/collectives/rank_order.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace contend {

namespace {

constexpr std::size_t kMostTried = 8;

/// Groups of servers that are merged step by step; a group is named by its smallest server.
class Groups {
 public:
  explicit Groups(std::size_t servers) : parent_(servers) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::uint32_t find(std::uint32_t server) {
    while (parent_[server] != server) server = parent_[server] = parent_[parent_[server]];
    return server;
  }
  /// Merges two groups; true if they were different.
  bool join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    if (a == b) return false;
    parent_[std::max(a, b)] = std::min(a, b);
    return true;
  }

 private:
  std::vector<std::uint32_t> parent_;
};

constexpr std::uint32_t kNobody = UINT32_MAX;

/// For each server the name of its group after every step that merged groups, the widest first, and then the server.
std::vector<std::vector<std::uint32_t>> group_names(const Topology& topology) {
  const std::size_t servers = topology.servers();
  Groups groups{servers};
  std::vector<std::vector<std::uint32_t>> names(servers);
  // A server within k hops of the node, once there is one.
  std::vector<std::uint32_t> near(topology.nodes().size(), kNobody);
  for (std::size_t node = 0; node < near.size(); ++node) {
    if (topology.nodes()[node].server.valid()) near[node] = topology.nodes()[node].server.value();
  }
  const auto record = [&] {
    for (std::uint32_t server = 0; server < servers; ++server) names[server].push_back(groups.find(server));
  };
  record();
  for (bool reached = true; reached;) {
    reached = false;
    bool joined = false;
    std::vector<std::uint32_t> next = near;
    for (const Link& link : topology.links()) {
      const std::uint32_t server = near[link.from.index()];
      if (server == kNobody) continue;
      std::uint32_t& at = next[link.to.index()];
      if (at == kNobody) {
        at = server;
        reached = true;
      }
      joined = groups.join(server, at) || joined;
    }
    near = std::move(next);
    if (joined) record();
  }
  for (auto& list : names) std::reverse(list.begin(), list.end());
  return names;
}

/// Bandwidths of the direct cables between the GPUs of a server; 0 if there is none. Both directions are assumed equal.
std::vector<double> direct_widths(std::span<const NodeId> gpus, const Topology& topology) {
  const std::size_t n = gpus.size();
  std::vector<double> widths(n * n, 0);
  for (std::size_t a = 0; a < n; ++a) {
    for (const LinkId link : topology.out(gpus[a])) {
      const Link& cable = topology.links()[link.index()];
      const auto found = std::find(gpus.begin(), gpus.end(), cable.to);
      if (found == gpus.end()) continue;
      widths[a * n + static_cast<std::size_t>(found - gpus.begin())] += cable.bandwidth.bytes_per_second();
    }
  }
  return widths;
}

/// The ring through all n GPUs whose narrowest cable is widest, then whose cables are widest in total; of equal rings
/// the first in lexicographic order.
std::vector<std::size_t> widest_ring(const std::vector<double>& widths, std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::size_t> best = order;
  std::pair<double, double> best_width{-1, -1};
  do {
    std::pair<double, double> width{widths[order[n - 1] * n + order[0]], 0};
    for (std::size_t i = 0; i < n; ++i) {
      const double cable = widths[order[i] * n + order[(i + 1) % n]];
      width.first = std::min(width.first, cable);
      width.second += cable;
    }
    if (width > best_width) {
      best_width = width;
      best = order;
    }
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return best;
}

/// Orders the GPUs of servers. It reuses the order of the last server if the cables are equal.
class InsideServers {
 public:
  explicit InsideServers(const Topology& topology) : topology_{topology} {}
  void arrange(std::span<NodeId> gpus) {
    if (gpus.size() < 3 || gpus.size() > kMostTried) return;
    std::vector<double> widths = direct_widths(gpus, topology_);
    if (std::all_of(widths.begin(), widths.end(), [](double width) { return width == 0; })) return;
    if (widths != widths_) {
      ring_ = widest_ring(widths, gpus.size());
      widths_ = std::move(widths);
    }
    const std::vector<NodeId> before{gpus.begin(), gpus.end()};
    for (std::size_t i = 0; i < gpus.size(); ++i) gpus[i] = before[ring_[i]];
  }

 private:
  const Topology& topology_;
  std::vector<double> widths_;
  std::vector<std::size_t> ring_;
};

/// One past the last GPU of the same server as `first`.
std::size_t end_of_server(std::span<const NodeId> order, const Topology& topology, std::size_t first) {
  std::size_t end = first;
  const auto server_of = [&](std::size_t i) { return topology.nodes()[order[i].index()].server; };
  while (end < order.size() && server_of(end) == server_of(first)) ++end;
  return end;
}

}  // namespace

std::vector<NodeId> topological_order(std::span<const NodeId> gpus, const Topology& topology) {
  const std::vector<std::vector<std::uint32_t>> names = group_names(topology);
  std::vector<NodeId> order{gpus.begin(), gpus.end()};
  // The last name of a server is its own, so only GPUs of one server have the same names.
  std::ranges::sort(order, {}, [&](NodeId gpu) {
    const ServerId server = topology.nodes()[gpu.index()].server;
    return std::tuple<const std::vector<std::uint32_t>&, NodeId>{names[server.index()], gpu};
  });
  InsideServers inside{topology};
  for (std::size_t first = 0; first < order.size();) {
    const std::size_t end = end_of_server(order, topology, first);
    inside.arrange(std::span{order}.subspan(first, end - first));
    first = end;
  }
  return order;
}

std::vector<int> level_sizes(std::span<const NodeId> order, const Topology& topology) {
  CONTEND_CHECK(!order.empty(), "a collective without GPUs");
  const std::size_t size = end_of_server(order, topology, 0);
  std::vector<ServerId> servers;
  for (std::size_t first = 0; first < order.size();) {
    const std::size_t end = end_of_server(order, topology, first);
    if (end - first != size) return {static_cast<int>(order.size())};
    servers.push_back(topology.nodes()[order[first].index()].server);
    first = end;
  }
  const auto count = static_cast<int>(servers.size());
  std::sort(servers.begin(), servers.end());
  const bool together = std::adjacent_find(servers.begin(), servers.end()) == servers.end();
  if (!together || count == 1 || size == 1) return {static_cast<int>(order.size())};
  return {static_cast<int>(size), count};
}

}  // namespace contend
