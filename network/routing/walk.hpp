#pragma once
// Walks a single shortest path hop by hop. Routers differ in the link that they choose at each hop.

#include "network/routing.hpp"
#include "network/routing/shortest_paths.hpp"

#include <algorithm>
#include <span>

namespace contend {

/// Writes a shortest path into `route`; empty if there is none. At each node `at`, `choose(at, links)` returns one of
/// the `links` that continue a shortest path.
template <class Choose>
void walk(ShortestPaths& paths, NodeId from, NodeId to, Choose&& choose, Route& route) {
  route.links.clear();
  route.latency = Time{};
  if (!paths.aim(from, to)) return;
  bool has_gone_down = false;
  for (NodeId at = from; at != to;) {
    const LinkId link = choose(at, paths.next(at, has_gone_down));
    has_gone_down = has_gone_down || paths.goes_down(link);
    const Link& step = paths.topology().links()[link.index()];
    route.links.push_back({link, 1});
    route.latency += step.latency;
    at = step.to;
  }
  std::sort(route.links.begin(), route.links.end(),
            [](const LinkShare& a, const LinkShare& b) { return a.link < b.link; });
}

}  // namespace contend
