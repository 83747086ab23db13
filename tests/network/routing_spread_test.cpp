// Tests how routers spread flows over equal paths.

#include "network/routing.hpp"
#include "tests/near.hpp"
#include "tests/network/topology_kit.hpp"

#include <map>
#include <set>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Share of the route on links between switches, by name.
std::map<std::string, double> between_switches(const Topology& topology, const Route& route) {
  std::map<std::string, double> shares;
  for (const auto& [link, share] : route.links) {
    const Link& it = topology.links()[link.index()];
    const bool inside =
        topology.nodes()[it.from.index()].server.valid() || topology.nodes()[it.to.index()].server.valid();
    if (!inside) shares[topology.link_name(link)] = share;
  }
  return shares;
}

}  // namespace

TEST_CASE("spraying gives every shortest path the same share") {
  // Ring of 6, opposite servers: two ways round, 3 cables each.
  const Topology ring = build_topology(spec("ring"), 6, 1);
  Route route;
  make_spraying_router(ring)->route(ring.gpus()[0], ring.gpus()[3], 0, route);
  CHECK(between_switches(ring, route) == std::map<std::string, double>{{"switch0->switch1", 0.5},
                                                                       {"switch1->switch2", 0.5},
                                                                       {"switch2->switch3", 0.5},
                                                                       {"switch0->switch5", 0.5},
                                                                       {"switch5->switch4", 0.5},
                                                                       {"switch4->switch3", 0.5}});
  // 5 x 5 grid, 2 steps along the first dimension and 1 along the second: 3 shortest paths, of which 2 begin along the
  // first.  An even split at each switch would put 1/2 there.
  const Topology grid = build_topology(torus({5, 5}), 25, 1);
  make_spraying_router(grid)->route(grid.gpus()[0], grid.gpus()[7], 0, route);
  const auto shares = between_switches(grid, route);
  CHECK(shares.at("switch0->switch1") == near(2.0 / 3));
  CHECK(shares.at("switch0->switch5") == near(1.0 / 3));
  CHECK(shares.at("switch1->switch2") == near(1.0 / 3));
  CHECK(shares.at("switch6->switch7") == near(2.0 / 3));
  CHECK(shares.size() == 7);
  // Parallel cables are paths of their own.
  TopologySpec made = leaf_spine(1, 2);
  made.fabric.parallel_links = 2;
  const Topology parallel = build_topology(made, 2, 1);
  make_spraying_router(parallel)->route(parallel.gpus()[0], parallel.gpus()[1], 0, route);
  for (const auto& [name, share] : between_switches(parallel, route)) CHECK(share == 0.25);
  CHECK(route.latency.ns() == 2 * 150 + 4 * 500);
}

TEST_CASE("the latency of a sprayed flow is the latency of its slowest path") {
  GraphSpec graph;
  graph.nodes = {
      {"a", NodeKind::gpu, 0, false}, {"b", NodeKind::gpu, 1, false}, {"x", {}, {}, false}, {"y", {}, {}, false}};
  for (GraphNode& node : graph.nodes) {
    if (!node.server) node.kind = NodeKind::fabric_switch;
  }
  graph.links = {{"a", "x", ByteRate{1}, Time::nanoseconds(5), true, 1},
                 {"a", "y", ByteRate{1}, Time::nanoseconds(1), true, 1},
                 {"x", "b", ByteRate{1}, Time::nanoseconds(3), true, 1},
                 {"y", "b", ByteRate{1}, Time::nanoseconds(4), true, 1}};
  const Topology topology = build_graph(graph);
  Route route;
  make_spraying_router(topology)->route(topology.gpus()[0], topology.gpus()[1], 0, route);
  CHECK(route.latency.ns() == 8);
  CHECK(route.links.size() == 4);
}

TEST_CASE("ECMP hashes flows evenly over all paths, and switches choose independently") {
  // One pair of a k=8 fat-tree in different pods: 4 x 4 paths. 16,000 labels: the sum of (n - 1000)^2 / 1000 over 16
  // paths has 15 degrees of freedom; a fair hash exceeds 37.7 once in a thousand seeds.
  const Topology topology = build_topology(fat_tree(8), 128, 1);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto router = make_ecmp_router(topology, seed);
    std::map<std::string, int> cores;
    Route route;
    for (std::uint64_t label = 0; label < 16'000; ++label) {
      router->route(topology.gpus()[3], topology.gpus()[100], label, route);
      for (const auto& [name, share] : between_switches(topology, route)) {
        if (name.starts_with("pod0/agg")) ++cores[name];
      }
    }
    CHECK(cores.size() == 16);
    double chi_square = 0;
    for (const auto& [name, flows] : cores) chi_square += (flows - 1000.0) * (flows - 1000.0) / 1000;
    CHECK(chi_square < 37.7);
    CHECK(chi_square > 3.5);  // and not suspiciously even, once in a thousand
  }
}

TEST_CASE("ECMP with one hash at all switches takes the paths that the first stage left") {
  // The 16 servers of a pod of a k=8 fat-tree send to another pod, each many flows. They have 4 choices at each of two
  // stages: 16 links lead from the pod to the cores.
  const Topology topology = build_topology(fat_tree(8), 128, 1);
  for (const EcmpHash hash : {EcmpHash::same, EcmpHash::per_switch}) {
    const auto router = make_ecmp_router(topology, 5, hash);
    std::map<std::string, std::set<std::string>> cores_of;  // by aggregation switch
    Route route;
    for (std::uint64_t label = 0; label < 100; ++label) {
      for (std::size_t server = 0; server < 16; ++server) {
        router->route(topology.gpus()[server], topology.gpus()[64 + server], label, route);
        for (const auto& [name, share] : between_switches(topology, route)) {
          const std::size_t arrow = name.find("->");
          if (name.starts_with("pod0/agg")) cores_of[name.substr(0, arrow)].insert(name.substr(arrow));
        }
      }
    }
    CHECK(cores_of.size() == 4);
    for (const auto& [aggregate, cores] : cores_of) CHECK(cores.size() == (hash == EcmpHash::same ? 1 : 4));
  }
}

TEST_CASE("ECMP spreads flows over all spines of two stages with either hash") {
  const Topology topology = build_topology(leaf_spine(2, 8), 32, 1);
  // A path has one choice there, and so both spread flows over all spines.
  for (const EcmpHash hash : {EcmpHash::same, EcmpHash::per_switch}) {
    const auto router = make_ecmp_router(topology, 5, hash);
    std::set<LinkId> links;
    Route route;
    for (std::uint64_t label = 0; label < 200; ++label) {
      router->route(topology.gpus()[0], topology.gpus()[31], label, route);
      for (const LinkShare& use : route.links) links.insert(use.link);
    }
    CHECK(links.size() == route.links.size() - 2 + 2 * 8);
  }
}

TEST_CASE("ECMP is a function of seed, pair and label, the same with every compiler") {
  const Topology topology = build_topology(leaf_spine(2, 8), 4, 1);
  const auto spines = [&](std::uint64_t seed) {
    const auto router = make_ecmp_router(topology, seed);
    std::string chosen;
    Route route;
    for (std::uint64_t label = 0; label < 16; ++label) {
      router->route(topology.gpus()[0], topology.gpus()[3], label, route);
      chosen += between_switches(topology, route).begin()->first.back();
    }
    return chosen;
  };
  CHECK(spines(1) == spines(1));
  CHECK(spines(1) != spines(2));
  // Worked out from the formula in network/routing.hpp by another program: source 0, destination 6, switch 8.
  CHECK(spines(1) == "4157463107075433");
}

TEST_CASE("links that fail and come back leave the routes as they were") {
  const Topology topology = build_topology(fat_tree(4), 16, 1);
  const auto tried = make_ecmp_router(topology, 9);
  const auto fresh = make_ecmp_router(topology, 9);
  Route a;
  Route b;
  tried->route(topology.gpus()[0], topology.gpus()[15], 1, a);
  for (std::size_t i = 0; i < topology.links().size(); i += 3) tried->set_link_up(LinkId{i}, false);
  tried->route(topology.gpus()[0], topology.gpus()[15], 1, a);
  for (std::size_t i = 0; i < topology.links().size(); i += 3) tried->set_link_up(LinkId{i}, true);
  for (std::uint64_t label = 0; label < 100; ++label) {
    tried->route(topology.gpus()[label % 8], topology.gpus()[15 - label % 7], label, a);
    fresh->route(topology.gpus()[label % 8], topology.gpus()[15 - label % 7], label, b);
    CHECK(
        std::ranges::equal(a.links, b.links, [](const LinkShare& x, const LinkShare& y) { return x.link == y.link; }));
  }
}

TEST_CASE("inside a server NVLink is preferred, GPUs do not forward, and every GPU uses its near NIC") {
  const auto names = [](const Topology& topology, std::size_t from, std::size_t to) {
    Route route;
    make_shortest_path_router(topology)->route(topology.gpus()[from], topology.gpus()[to], 0, route);
    std::vector<std::string> all;
    NodeId at = topology.gpus()[from];
    while (at != topology.gpus()[to]) {
      for (const auto& [link, share] : route.links) {
        const Link& step = topology.links()[link.index()];
        if (step.from != at) continue;
        at = step.to;
        break;
      }
      all.push_back(topology.nodes()[at.index()].name);
    }
    return all;
  };
  using Names = std::vector<std::string>;
  const Topology nvswitch = build_topology(with_server(spec("single-switch"), "nvswitch", 4), 2, 8);
  CHECK(names(nvswitch, 0, 7) == Names{"server0/nvswitch0", "server0/gpu7"});
  // GPU 6 shares PCIe switch 3 with NIC 3, GPU 1 of the other server PCIe switch 0 with NIC 0.
  CHECK(names(nvswitch, 6, 9) ==
        Names{"server0/pcie3", "server0/nic3", "switch0", "server1/nic0", "server1/pcie0", "server1/gpu1"});
  TopologySpec cube = with_server(spec("single-switch"), "hybrid-cube-mesh", 4);
  const Topology mesh = build_topology(cube, 1, 8);
  CHECK(names(mesh, 0, 4) == Names{"server0/gpu4"});
  CHECK(names(mesh, 0, 5) ==
        Names{"server0/pcie0", "server0/socket0", "server0/socket1", "server0/pcie2", "server0/gpu5"});
  cube.server.gpu_relay = true;
  CHECK(names(build_topology(cube, 1, 8), 0, 5) == Names{"server0/gpu1", "server0/gpu5"});
}

TEST_CASE("two GPUs below one PCIe switch, equally near by NVSwitch, take it under every routing") {
  const Topology topology = build_topology(with_server(spec("single-switch"), "nvswitch"), 1, 4);
  const auto link = [&](const std::string& name) {
    for (std::size_t i = 0; i < topology.links().size(); ++i) {
      if (topology.link_name(LinkId{i}) == name) return LinkId{i};
    }
    FAIL("no link ", name);
    return LinkId::none();
  };
  for (const auto& router :
       {make_shortest_path_router(topology), make_ecmp_router(topology, 3), make_spraying_router(topology)}) {
    const auto used = [&](std::uint64_t label) {
      Route route;
      router->route(topology.gpus()[0], topology.gpus()[1], label, route);
      std::set<std::string> names;
      for (const LinkShare& use : route.links) names.insert(topology.link_name(use.link));
      return names;
    };
    using Names = std::set<std::string>;
    for (std::uint64_t label = 0; label < 20; ++label) {
      CHECK(used(label) == Names{"server0/gpu0->server0/nvswitch0", "server0/nvswitch0->server0/gpu1"});
    }
    router->set_link_up(link("server0/nvswitch0->server0/gpu1"), false);
    CHECK(used(0) == Names{"server0/gpu0->server0/pcie0", "server0/pcie0->server0/gpu1"});
    router->set_link_up(link("server0/nvswitch0->server0/gpu1"), true);
    CHECK(used(0).contains("server0/gpu0->server0/nvswitch0"));
  }
}
