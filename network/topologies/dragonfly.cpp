// Builds the dragonfly of Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008,
// section 3.1. A group has `a` fully joined routers, each with p servers and h global links. There are up to a h + 1
// groups, and every two of them are joined by the same number of global links. Global port c of a group (0 ... a h - 1,
// router c / h) leads to the group that is c mod (groups - 1) + 1 further on; ports that can't be distributed evenly
// stay unused. A dragonfly is balanced if a = 2p = 2h. A shortest path by hops may cross two global links if that takes
// fewer hops than one global link with a local one at each end.

#include "network/topologies/assembly.hpp"

#include <fmt/core.h>

namespace contend {

namespace {

std::size_t groups_of(const FabricSpec& fabric, std::size_t servers) {
  const std::size_t per_group = fabric.routers_per_group * fabric.servers_per_router;
  return (servers + per_group - 1) / per_group;
}

void check_dragonfly(const TopologySpec& spec, const Size& size, Complaints& complaints) {
  const FabricSpec& fabric = spec.fabric;
  const std::size_t groups = groups_of(fabric, size.servers);
  const std::size_t most = fabric.routers_per_group * fabric.global_links + 1;
  if (groups > most) {
    complaints.add("servers",
                   fmt::format("{} servers need {} groups, but {} routers with {} global links each join at most {}",
                               size.servers, groups, fabric.routers_per_group, fabric.global_links, most),
                   fmt::format("at most {} servers", most * fabric.routers_per_group * fabric.servers_per_router));
  }
}

void build_dragonfly(Assembly& assembly) {
  const FabricSpec& fabric = assembly.spec.fabric;
  const std::size_t a = fabric.routers_per_group;
  const std::size_t groups = groups_of(fabric, assembly.size.servers);
  std::vector<NodeId> routers;
  for (std::size_t i = 0; i < groups * a; ++i) {
    routers.push_back(assembly.add_switch(fmt::format("group{}/router{}", i / a, i % a)));
  }
  for (std::size_t server = 0; server < assembly.size.servers; ++server) {
    assembly.attach_server(server, routers[server / fabric.servers_per_router]);
  }
  for (std::size_t group = 0; group < groups; ++group) {
    for (std::size_t i = 0; i < a; ++i) {
      for (std::size_t j = i + 1; j < a; ++j) assembly.join(routers[group * a + i], routers[group * a + j]);
    }
  }
  if (groups < 2) return;
  const std::size_t rounds = a * fabric.global_links / (groups - 1);
  const auto router = [&](std::size_t group, std::size_t round, std::size_t other) {
    const std::size_t port = round * (groups - 1) + (other + groups - group) % groups - 1;
    return routers[group * a + port / fabric.global_links];
  };
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < groups; ++i) {
      for (std::size_t j = i + 1; j < groups; ++j) assembly.join(router(i, round, j), router(j, round, i));
    }
  }
}

}  // namespace

FabricBuilder dragonfly_fabric() {
  return {
      {"dragonfly", "groups of fully joined routers, every two groups joined by global links", "Kim et al., ISCA 2008",
       with_cables(
           {count("routers_per_group", &FabricSpec::routers_per_group, "number of routers in a group (a)"),
            count("servers_per_router", &FabricSpec::servers_per_router, "number of servers on a router (p)"),
            count("global_links", &FabricSpec::global_links, "number of links from a router to other groups (h)")})},
      check_dragonfly,
      build_dragonfly};
}

}  // namespace contend
