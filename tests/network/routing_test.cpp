// Compares the routers with a slow obvious search, on every kind of fabric and server.

#include "network/routing.hpp"

#include "network/collectives/algorithm.hpp"
#include "network/collectives/collective_run.hpp"
#include "network/routing/near_interfaces.hpp"
#include "network/routing/planning.hpp"
#include "network/routing/shortest_paths.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/network/topology_kit.hpp"

#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <set>

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
  add(rails(2, 2, 8), 4, 8);
  add(with_server(leaf_spine(2, 2), "pcie", 3), 5, 5);
  add(with_server(leaf_spine(2, 2), "nvswitch", 8), 4, 8);
  add(with_server(fat_tree(4), "hybrid-cube-mesh", 4), 4, 8);
  TopologySpec relay = with_server(torus({3, 2}), "hybrid-cube-mesh", 2);
  relay.server.gpu_relay = true;
  add(relay, 6, 8);
  return all;
}

std::vector<bool> all_up(const Topology& topology) {
  return std::vector<bool>(topology.links().size(), true);
}

/// Follows the links of a single path and returns their number, or 0 if they are not a path from `from` to `to`, or one
/// that goes up after it has gone down.
std::size_t length_of_path(const Topology& topology, NodeId from, NodeId to, const Route& route) {
  std::map<NodeId, NodeId> next;
  for (const auto& [link, share] : route.links) {
    const Link& step = topology.links()[link.index()];
    if (share != 1 || !next.emplace(step.from, step.to).second) return 0;
  }
  std::size_t steps = 0;
  NodeId at = from;
  bool has_gone_down = false;
  for (; at != to && next.contains(at); ++steps) {
    const int slope = topology.nodes()[next[at].index()].tier - topology.nodes()[at.index()].tier;
    if (slope > 0 && has_gone_down) return 0;
    has_gone_down = has_gone_down || slope < 0;
    at = next[at];
  }
  return at == to && steps == route.links.size() ? steps : 0;
}

/// Shares that flow in and out of every node balance; the source sends 1 and the destination gets 1. Every link lies on
/// a shortest path.
void check_balance(const Topology& topology, NodeId from, NodeId to, const Route& route, const Distances& distance) {
  std::map<NodeId, double> surplus;
  for (const auto& [link, share] : route.links) {
    const Link& step = topology.links()[link.index()];
    REQUIRE(share > 0);
    const bool is_down = slope_of(topology, step) < 0;
    REQUIRE(distance.any[step.from.index()] == (is_down ? distance.down : distance.any)[step.to.index()] + 1);
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
      const bool joined = distance.any[from.index()] < 1000;
      ++(joined ? pairs.joined : pairs.apart);
      for (const Router* router : single) {
        router->route(from, to, 7, route);
        REQUIRE(length_of_path(topology, from, to, route) == (joined ? distance.any[from.index()] : 0));
        REQUIRE(std::ranges::all_of(route.links, [&](const LinkShare& share) { return up[share.link.index()]; }));
      }
      spraying.route(from, to, 7, route);
      REQUIRE(route.links.empty() != joined);
      if (joined) check_balance(topology, from, to, route, distance);
    }
  }
}

using Path = std::vector<LinkId>;

/// Keeps the paths that satisfy the condition, if any do.
template <class Condition>
bool keep_if_any(std::vector<Path>& paths, Condition condition) {
  std::vector<Path> kept;
  std::ranges::copy_if(paths, std::back_inserter(kept), condition);
  if (kept.empty()) return false;
  paths = std::move(kept);
  return true;
}

/// The paths that a flow of the pair may take, from the list of all shortest paths.
class PlainPaths {
 public:
  PlainPaths(const Topology& topology, const std::vector<bool>& up)
      : topology_{topology}, up_{up}, near_{near_interfaces(topology).own} {}

  std::vector<Path> between(NodeId from, NodeId to, const Distances& distance) const {
    std::vector<Path> paths;
    Path path;
    list(from, to, distance, false, path, paths);
    if (server_of(from) == server_of(to)) {
      keep_if_any(paths, [&](const Path& each) {
        return std::ranges::all_of(each, [&](LinkId l) { return server_of(link(l).to) == server_of(to); });
      });
      double widest = 0;
      for (const Path& each : paths) widest = std::max(widest, width(each));
      keep_if_any(paths, [&](const Path& each) { return width(each) == widest; });
      return paths;
    }
    const auto leaves = [&](const Path& each) {
      return std::ranges::any_of(each, [&](LinkId l) {
        return server_of(link(l).from) == server_of(from) && server_of(link(l).to) != server_of(from) &&
               is_near(from, link(l).from);
      });
    };
    const auto arrives = [&](const Path& each) {
      return std::ranges::any_of(each, [&](LinkId l) {
        return server_of(link(l).to) == server_of(to) && server_of(link(l).from) != server_of(to) &&
               is_near(to, link(l).to);
      });
    };
    if (keep_if_any(paths, [&](const Path& each) { return leaves(each) && arrives(each); })) return paths;
    if (!keep_if_any(paths, leaves)) keep_if_any(paths, arrives);
    return paths;
  }

 private:
  [[nodiscard]] const Link& link(LinkId id) const { return topology_.links()[id.index()]; }
  [[nodiscard]] ServerId server_of(NodeId node) const { return topology_.nodes()[node.index()].server; }
  [[nodiscard]] bool is_near(NodeId gpu, NodeId nic) const {
    return std::ranges::find(near_[gpu.index()], nic) != near_[gpu.index()].end();
  }
  [[nodiscard]] double width(const Path& path) const {
    double least = INFINITY;
    for (const LinkId each : path) least = std::min(least, link(each).bandwidth.bytes_per_second());
    return least;
  }
  void list(NodeId at, NodeId to, const Distances& distance, bool has_gone_down, Path& path,
            std::vector<Path>& paths) const {
    if (at == to) paths.push_back(path);
    for (const LinkId each : topology_.out(at)) {
      const int slope = slope_of(topology_, link(each));
      if (!up_[each.index()] || (has_gone_down && slope > 0)) continue;
      const bool goes_down = has_gone_down || slope < 0;
      const auto& here = has_gone_down ? distance.down : distance.any;
      const auto& there = goes_down ? distance.down : distance.any;
      if (there[link(each).to.index()] + 1 != here[at.index()]) continue;
      path.push_back(each);
      list(link(each).to, to, distance, goes_down, path, paths);
      path.pop_back();
    }
  }

  const Topology& topology_;
  const std::vector<bool>& up_;
  std::vector<std::vector<NodeId>> near_;
};

/// Compares at every node that shortest paths of the pair visit; returns the number of nodes.
std::size_t check_next(ShortestPaths& paths, NodeId from, NodeId to, const std::vector<bool>& up) {
  const Topology& topology = paths.topology();
  const auto distance = distances_to(topology, from, to, up);
  const bool joined = distance.any[from.index()] < 1000;
  REQUIRE(paths.aim(from, to) == joined);
  if (!joined) return 0;
  using Stage = std::pair<NodeId, bool>;  // a node, and whether the path has gone down before
  const auto after = [&](const Stage& stage, LinkId id) {
    const Link& link = topology.links()[id.index()];
    return Stage{link.to, stage.second || slope_of(topology, link) < 0};
  };
  std::map<Stage, std::set<LinkId>> expected;
  for (const Path& path : PlainPaths{topology, up}.between(from, to, distance)) {
    Stage at{from, false};
    for (const LinkId link : path) {
      expected[at].insert(link);
      at = after(at, link);
    }
  }
  std::vector<Stage> visited{{from, false}};
  for (std::size_t i = 0; i < visited.size(); ++i) {
    const Stage at = visited[i];
    if (at.first == to) continue;
    const auto next = paths.next(at.first, at.second);
    const std::vector<LinkId> ours(next.begin(), next.end());
    const auto& theirs = expected[at];
    REQUIRE(ours == std::vector<LinkId>(theirs.begin(), theirs.end()));
    for (const LinkId link : ours) {
      const Stage there = after(at, link);
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
      for (int pair = 0; pair < effort(30); ++pair) {
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
  CHECK(visited > effort(std::size_t{5000}));
}

TEST_CASE("GPUs below one PCIe switch divide its interfaces in order, whatever the router; a failed one is replaced") {
  for (const std::size_t nics : {2U, 4U, 8U, 16U}) {
    CAPTURE(nics);
    const Topology topology = build_topology(with_server(leaf_spine(4, 2), "nvswitch", nics), 2, 8);
    const auto near = near_interfaces(topology).own;
    const auto gpus = topology.gpus();
    const auto nic = [&](std::size_t number) { return topology.find_node("server0/nic" + std::to_string(number)); };
    for (std::size_t gpu = 0; gpu < 8; ++gpu) {
      std::vector<NodeId> expected;
      if (nics <= 8) expected = {nic(gpu * nics / 8)};
      if (nics == 16) expected = {nic(2 * gpu), nic(2 * gpu + 1)};
      CHECK(near[gpus[gpu].index()] == expected);
    }
    if (nics != 8) continue;
    const auto leaves_by = [&](const Router& router, std::size_t from, std::size_t to) {
      Route route;
      router.route(gpus[from], gpus[to], 5, route);
      for (const auto& [link, share] : route.links) {
        const Link& it = topology.links()[link.index()];
        if (topology.nodes()[it.from.index()].kind == NodeKind::nic &&
            topology.nodes()[it.to.index()].server != topology.nodes()[it.from.index()].server)
          return std::pair{it.from, share};
      }
      return std::pair{NodeId::none(), 0.0};
    };
    std::vector<std::unique_ptr<Router>> routers;
    routers.push_back(make_shortest_path_router(topology));
    routers.push_back(make_ecmp_router(topology, 3));
    routers.push_back(make_spraying_router(topology));
    for (const auto& router : routers) {
      for (std::size_t from = 0; from < 8; ++from) {
        for (std::size_t to = 8; to < 16; ++to) CHECK(leaves_by(*router, from, to) == std::pair{nic(from), 1.0});
      }
      for (std::size_t i = 0; i < topology.links().size(); ++i) {
        if (topology.links()[i].from == nic(1) || topology.links()[i].to == nic(1))
          router->set_link_up(LinkId{i}, false);
      }
      CHECK(leaves_by(*router, 1, 9) == std::pair{nic(0), 1.0});
      CHECK(leaves_by(*router, 2, 9) == std::pair{nic(2), 1.0});
    }
  }
}

TEST_CASE("a hierarchical all-reduce over 8 interfaces takes the same time whatever shares a PCIe switch") {
  std::vector<std::int64_t> ends;
  for (const std::size_t per_switch : {1U, 2U, 4U}) {
    TopologySpec made = rails(2, 2, 8);
    made.server.nic_bandwidth = ByteRate{50e9};
    made.server.gpus_per_pcie_switch = per_switch;
    const Topology topology = build_topology(made, 2, 8);
    const auto router = make_ecmp_router(topology, 3);
    CollectiveShape shape;
    shape.ranks = 16;
    shape.groups = {8, 2};
    const CollectiveAlgorithm& algorithm = find_collective_algorithm("hierarchical", CollectiveKind::all_reduce);
    const auto schedule = expand_collective(algorithm, CollectiveKind::all_reduce, shape, Bytes{512'000'000});
    ends.push_back(run_collective(schedule, topology.gpus(), topology, *router).end.ns());
  }
  CHECK(ends[1] == ends[0]);
  CHECK(ends[2] == ends[0]);
}

TEST_CASE("a route through a switch costs as much with many servers as with few") {
  const auto examined = [](const TopologySpec& made, std::size_t servers) {
    const Topology topology = build_topology(made, servers, 1);
    ShortestPaths paths{topology};
    const auto gpus = topology.gpus();
    for (std::size_t i = 0; i < 20; ++i) {
      const NodeId to = gpus[(i + servers / 2) % servers];
      REQUIRE(paths.aim(gpus[i], to));
      bool has_gone_down = false;
      for (NodeId at = gpus[i]; at != to;) {
        const LinkId link = paths.next(at, has_gone_down).front();
        has_gone_down = has_gone_down || paths.goes_down(link);
        at = topology.links()[link.index()].to;
      }
    }
    return paths.examined();
  };
  CHECK(examined(spec("single-switch"), 4000) == examined(spec("single-switch"), 40));
  // From a leaf up all spines are candidates; from a spine down, and from a leaf to a server, only one port each.
  CHECK(examined(leaf_spine(8, 4), 4000) == examined(leaf_spine(8, 4), 48));
}

TEST_CASE("every route is a shortest path, and spraying uses only shortest paths and loses no share") {
  for (const Case& made : cases()) {
    if (kSanitized && made.topology.gpus().size() > 20) continue;
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
    for (int round = 0; round < (kSanitized ? 3 : 8); ++round) {
      for (int i = 0; i < 6; ++i) {
        const auto link = static_cast<std::size_t>(stream.uniform_integer(0, static_cast<std::int64_t>(up.size()) - 1));
        up[link] = !up[link];
        for (Router* router : {shortest.get(), ecmp.get(), spraying.get()}) router->set_link_up(LinkId{link}, up[link]);
      }
      check_all_pairs(made, up, {shortest.get(), ecmp.get()}, *spraying, pairs);
    }
  }
  CHECK(pairs.joined > effort(1000));
  CHECK(pairs.apart > effort(1000));
}

namespace {

std::vector<std::unique_ptr<Router>> all_routers(const Topology& topology) {
  std::vector<std::unique_ptr<Router>> routers;
  routers.push_back(make_shortest_path_router(topology));
  routers.push_back(make_ecmp_router(topology, 3));
  routers.push_back(make_spraying_router(topology));
  routers.push_back(make_ethereal_router(topology));
  routers.push_back(make_planning_router(topology, {}));
  return routers;
}

/// Takes both directions of a cable down or up.
void set_cable(const Topology& topology, Router& router, const std::string& a, const std::string& b, bool up) {
  for (std::size_t i = 0; i < topology.links().size(); ++i) {
    const std::string name = topology.link_name(LinkId{i});
    if (name == a + "->" + b || name == b + "->" + a) router.set_link_up(LinkId{i}, up);
  }
}

/// True if the route enters a switch from above and leaves it upwards.
bool goes_up_after_down(const Topology& topology, const Route& route) {
  std::set<NodeId> from_above;
  for (const LinkShare& use : route.links) {
    const Link& link = topology.links()[use.link.index()];
    if (slope_of(topology, link) < 0) from_above.insert(link.to);
  }
  return std::ranges::any_of(route.links, [&](const LinkShare& use) {
    const Link& link = topology.links()[use.link.index()];
    return slope_of(topology, link) > 0 && from_above.contains(link.from);
  });
}

}  // namespace

TEST_CASE(
    "a pair of leaves of which only a third one knows both spines is apart, and in a fabric without tiers it isn't") {
  // leaf0 keeps spine0 and leaf1 keeps spine1: what is left is leaf0, spine0, leaf2, spine1, leaf1.
  const Topology topology = build_topology(leaf_spine(2, 2), 6, 1);
  const auto gpus = topology.gpus();
  for (const auto& router : all_routers(topology)) {
    set_cable(topology, *router, "leaf0", "spine1", false);
    set_cable(topology, *router, "leaf1", "spine0", false);
    const auto links = [&](std::size_t from, std::size_t to) {
      Route route;
      router->route(gpus[from], gpus[to], 7, route);
      return route.links.size();
    };
    CHECK(links(0, 2) == 0);
    CHECK(links(3, 1) == 0);
    CHECK(links(0, 1) == 4);
    CHECK(links(0, 4) == 6);
    CHECK(links(5, 2) == 6);
    set_cable(topology, *router, "leaf1", "spine0", true);
    CHECK(links(0, 2) == 6);
  }
  TopologySpec listed = spec("custom");
  for (const char* name : {"leaf0", "leaf1", "leaf2", "spine0", "spine1"}) {
    listed.fabric.graph.nodes.emplace_back();
    listed.fabric.graph.nodes.back().name = name;
  }
  const auto join = [&](const std::string& a, const std::string& b) {
    listed.fabric.graph.links.emplace_back();
    listed.fabric.graph.links.back().from = a;
    listed.fabric.graph.links.back().to = b;
  };
  for (std::size_t server = 0; server < 6; ++server)
    join("server" + std::to_string(server), "leaf" + std::to_string(server / 2));
  for (const char* leaf : {"leaf0", "leaf1", "leaf2"})
    for (const char* spine : {"spine0", "spine1"}) join(leaf, spine);
  const Topology custom = build_topology(listed, 6, 1);
  for (const auto& router : all_routers(custom)) {
    set_cable(custom, *router, "leaf0", "spine1", false);
    set_cable(custom, *router, "leaf1", "spine0", false);
    Route route;
    router->route(custom.gpus()[0], custom.gpus()[2], 7, route);
    CHECK(route.links.size() == 8);
  }
}

TEST_CASE("whatever fails in a fabric of tiers, no route of any router goes up after it has gone down") {
  RandomStream stream{13, "failures"};
  std::size_t routes = 0, apart = 0;
  const std::vector<Topology> fabrics = {build_topology(leaf_spine(2, 3), 8, 1), build_topology(fat_tree(4), 16, 1),
                                         build_topology(clos(1, 2, 2, 4, 2), 8, 1),
                                         build_topology(rails(2, 2, 4), 4, 4)};
  for (const Topology& topology : fabrics) {
    const auto routers = all_routers(topology);
    const auto some = [&](std::size_t size) {
      return static_cast<std::size_t>(stream.uniform_integer(0, static_cast<std::int64_t>(size) - 1));
    };
    for (int round = 0; round < effort(40); ++round) {
      for (int i = 0; i < 8; ++i) {
        const LinkId link{some(topology.links().size())};
        const bool up = stream.uniform() < 0.4;
        for (const auto& router : routers) router->set_link_up(link, up);
      }
      for (int pair = 0; pair < 10; ++pair) {
        const NodeId from = topology.gpus()[some(topology.gpus().size())];
        const NodeId to = topology.gpus()[some(topology.gpus().size())];
        if (from == to) continue;
        Route route;
        for (const auto& router : routers) {
          router->route(from, to, 7, route);
          REQUIRE(!goes_up_after_down(topology, route));
          ++(route.links.empty() ? apart : routes);
        }
      }
    }
  }
  CHECK(routes > effort(std::size_t{1000}));
  CHECK(apart > effort(std::size_t{1000}));
}
