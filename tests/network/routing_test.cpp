// Compares the routers with a slow obvious search, on every kind of fabric and server.

#include "network/routing.hpp"

#include "network/routing/shortest_paths.hpp"
#include "sim/random_stream.hpp"
#include "tests/network/topology_kit.hpp"

#include <cmath>
#include <map>
#include <memory>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

struct Case {
  std::string name;
  Topology topology;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const TopologySpec& made, std::size_t servers, std::size_t gpus) {
    all.push_back({made.fabric.kind + " of " + made.server.kind, build_topology(made, servers, gpus)});
  };
  add(spec("single-switch"), 4, 2);
  add(spec("ring"), 7, 1);
  add(torus({4, 3}), 12, 1);
  add(torus({2, 3, 4}), 24, 1);
  add(spec("fully-connected"), 5, 2);
  add(spec("dumbbell"), 5, 1);
  add(leaf_spine(3, 4), 9, 2);
  add(fat_tree(4), 16, 1);
  add(clos(2, 2, 2, 4, 2), 16, 1);
  add(dragonfly(4, 2, 2), 40, 1);
  add(spec("multi-cluster"), 12, 1);
  add(rails(2, 2, 4), 6, 4);
  add(with_server(leaf_spine(2, 2), "pcie", 3), 5, 5);
  add(with_server(fat_tree(4), "hybrid-cube-mesh", 4), 4, 8);
  TopologySpec relay = with_server(torus({3, 2}), "hybrid-cube-mesh", 2);
  relay.server.gpu_relay = true;
  add(relay, 6, 8);
  return all;
}

std::vector<bool> all_up(const Topology& topology) {
  return std::vector<bool>(topology.links().size(), true);
}

/// Follows the links of a single path and returns their number, or 0 if they are not a path from `from` to `to`.
std::size_t length_of_path(const Topology& topology, NodeId from, NodeId to, const Route& route) {
  std::map<NodeId, NodeId> next;
  for (const auto& [link, share] : route.links) {
    const Link& step = topology.links()[link.index()];
    if (share != 1 || !next.emplace(step.from, step.to).second) return 0;
  }
  std::size_t steps = 0;
  NodeId at = from;
  for (; at != to && next.contains(at); ++steps) at = next[at];
  return at == to && steps == route.links.size() ? steps : 0;
}

/// Shares that flow in and out of every node balance; the source sends 1 and the destination gets 1. Every link lies on
/// a shortest path.
void check_balance(const Topology& topology, NodeId from, NodeId to, const Route& route,
                   const std::vector<std::size_t>& distance) {
  std::map<NodeId, double> surplus;
  for (const auto& [link, share] : route.links) {
    const Link& step = topology.links()[link.index()];
    REQUIRE(share > 0);
    REQUIRE(distance[step.from.index()] == distance[step.to.index()] + 1);
    surplus[step.from] -= share;
    surplus[step.to] += share;
  }
  surplus[from] += 1;
  surplus[to] -= 1;
  for (const auto& [node, rest] : surplus) REQUIRE(std::abs(rest) < 1e-12);
}

/// Pairs that are joined, and that are cut off from each other.
struct Pairs {
  std::size_t joined = 0, apart = 0;
};

void check_all_pairs(const Case& made, const std::vector<bool>& up, const std::vector<const Router*>& single,
                     const Router& spraying, Pairs& pairs) {
  const Topology& topology = made.topology;
  CAPTURE(made.name);
  Route route;
  for (const NodeId from : topology.gpus()) {
    for (const NodeId to : topology.gpus()) {
      if (from == to) continue;
      const auto distance = distances_to(topology, from, to, up);
      const bool joined = distance[from.index()] < 1000;
      ++(joined ? pairs.joined : pairs.apart);
      for (const Router* router : single) {
        router->route(from, to, 7, route);
        REQUIRE(length_of_path(topology, from, to, route) == (joined ? distance[from.index()] : 0));
        REQUIRE(std::ranges::all_of(route.links, [&](const LinkShare& share) { return up[share.link.index()]; }));
      }
      spraying.route(from, to, 7, route);
      REQUIRE(route.links.empty() != joined);
      if (joined) check_balance(topology, from, to, route, distance);
    }
  }
}

/// The links out of a node that continue a shortest path by looking at all of them. Of equally short paths inside a
/// server only the widest count.
std::vector<LinkId> plain_next(const Topology& topology, NodeId at, NodeId from, NodeId to, const std::vector<bool>& up,
                               const std::vector<std::size_t>& distance) {
  const auto nodes = topology.nodes();
  const auto links = topology.links();
  const auto inside = [&](NodeId node) { return nodes[node.index()].server == nodes[to.index()].server; };
  const auto leads_on = [&](LinkId link) {
    const Link& step = links[link.index()];
    return up[link.index()] && distance[step.from.index()] == distance[step.to.index()] + 1;
  };
  // The bandwidth of the widest shortest path that stays in the server.
  const auto width = [&](auto&& self, NodeId node) -> double {
    if (node == to) return INFINITY;
    double best = 0;
    for (const LinkId link : topology.out(node)) {
      const Link& step = links[link.index()];
      if (leads_on(link) && inside(step.to))
        best = std::max(best, std::min(step.bandwidth.bytes_per_second(), self(self, step.to)));
    }
    return best;
  };
  const double widest = inside(from) ? width(width, from) : 0;
  std::vector<LinkId> next;
  for (const LinkId link : topology.out(at)) {
    const Link& step = links[link.index()];
    if (!leads_on(link)) continue;
    const bool wide = widest == 0 ||
                      (inside(step.to) && std::min(step.bandwidth.bytes_per_second(), width(width, step.to)) >= widest);
    if (wide) next.push_back(link);
  }
  return next;
}

/// Compares at every node that shortest paths of the pair visit; returns the number of nodes.
std::size_t check_next(ShortestPaths& paths, NodeId from, NodeId to, const std::vector<bool>& up) {
  const Topology& topology = paths.topology();
  const auto distance = distances_to(topology, from, to, up);
  const bool joined = distance[from.index()] < 1000;
  REQUIRE(paths.aim(from, to) == joined);
  if (!joined) return 0;
  std::vector<NodeId> visited{from};
  for (std::size_t i = 0; i < visited.size(); ++i) {
    if (visited[i] == to) continue;
    const auto next = paths.next(visited[i]);
    const std::vector<LinkId> ours(next.begin(), next.end());
    REQUIRE(ours == plain_next(topology, visited[i], from, to, up, distance));
    for (const LinkId link : ours) {
      const NodeId there = topology.links()[link.index()].to;
      if (std::ranges::find(visited, there) == visited.end()) visited.push_back(there);
    }
  }
  return visited.size();
}

}  // namespace

TEST_CASE("the links that continue shortest paths are those that a look at every link finds, with links down, too") {
  RandomStream stream{12, "failures"};
  std::size_t visited = 0;
  for (const Case& made : cases()) {
    CAPTURE(made.name);
    ShortestPaths paths{made.topology};
    std::vector<bool> up = all_up(made.topology);
    const auto gpus = made.topology.gpus();
    const auto some = [&](std::size_t size) {
      return static_cast<std::size_t>(stream.uniform_integer(0, static_cast<std::int64_t>(size) - 1));
    };
    for (int round = 0; round < 6; ++round) {
      for (int pair = 0; pair < 30; ++pair) {
        const NodeId from = gpus[some(gpus.size())];
        const NodeId to = gpus[some(gpus.size())];
        if (from != to) visited += check_next(paths, from, to, up);
      }
      for (int i = 0; i < 5; ++i) {
        const std::size_t link = some(up.size());
        up[link] = !up[link];
        paths.set_link_up(LinkId{link}, up[link]);
      }
    }
  }
  CHECK(visited > 5000);
}

TEST_CASE("a route through a switch costs as much with many servers as with few") {
  const auto examined = [](const TopologySpec& made, std::size_t servers) {
    const Topology topology = build_topology(made, servers, 1);
    ShortestPaths paths{topology};
    const auto gpus = topology.gpus();
    for (std::size_t i = 0; i < 20; ++i) {
      const NodeId to = gpus[(i + servers / 2) % servers];
      REQUIRE(paths.aim(gpus[i], to));
      for (NodeId at = gpus[i]; at != to;) at = topology.links()[paths.next(at).front().index()].to;
    }
    return paths.examined();
  };
  CHECK(examined(spec("single-switch"), 4000) == examined(spec("single-switch"), 40));
  // From a leaf up all spines are candidates; from a spine down, and from a leaf to a server, only one port each.
  CHECK(examined(leaf_spine(8, 4), 4000) == examined(leaf_spine(8, 4), 48));
}

TEST_CASE("every route is a shortest path, and spraying uses only shortest paths and loses no share") {
  for (const Case& made : cases()) {
    const auto shortest = make_shortest_path_router(made.topology);
    const auto ecmp = make_ecmp_router(made.topology, 3);
    const auto spraying = make_spraying_router(made.topology);
    Pairs pairs;
    check_all_pairs(made, all_up(made.topology), {shortest.get(), ecmp.get()}, *spraying, pairs);
    CHECK(pairs.joined == made.topology.gpus().size() * (made.topology.gpus().size() - 1));
  }
}

TEST_CASE("routes avoid links that are down and come back when they are up, whatever was cached") {
  RandomStream stream{11, "failures"};
  Pairs pairs;
  for (const Case& made : cases()) {
    if (made.topology.gpus().size() > 20) continue;
    const auto shortest = make_shortest_path_router(made.topology);
    const auto ecmp = make_ecmp_router(made.topology, 3);
    const auto spraying = make_spraying_router(made.topology);
    std::vector<bool> up = all_up(made.topology);
    for (int round = 0; round < 8; ++round) {
      for (int i = 0; i < 6; ++i) {
        const auto link = static_cast<std::size_t>(stream.uniform_integer(0, static_cast<std::int64_t>(up.size()) - 1));
        up[link] = !up[link];
        for (Router* router : {shortest.get(), ecmp.get(), spraying.get()}) router->set_link_up(LinkId{link}, up[link]);
      }
      check_all_pairs(made, up, {shortest.get(), ecmp.get()}, *spraying, pairs);
    }
  }
  CHECK(pairs.joined > 1000);
  CHECK(pairs.apart > 1000);
}
