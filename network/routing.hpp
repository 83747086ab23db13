#pragma once
// Which links a flow uses, and what share of its bytes each of them carries.
//
// Shortest means fewest links, whatever their bandwidth or latency; inside a server NVLink therefore comes before the
// path over PCIe, and both before the path through the NIC. Who may forward: network/topology.hpp.

#include "network/topology.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

/// A link on the route of a flow. `share` is the part of the bytes of the flow that crosses it: 1 on a single path, 1/4
/// where four equal paths split them, more than 1 where the bytes cross the link several times (a ring on one NIC).
struct LinkShare {
  LinkId link;
  double share = 1;
};

/// How one GPU reaches another, possibly split over several paths.
struct Route {
  std::vector<LinkShare> links;  ///< each link once, in order of id; empty: there is no path now, a flow stalls
  Time latency;                  ///< of the longest path used
};

/// Answers are cached: a router belongs to one simulation and must not be asked from two threads at once.
class Router {
 public:
  virtual ~Router() = default;
  /// Writes the route from `from` to `to` (different GPUs) into `route`. `label` identifies the flow among those of the
  /// pair: the ports of its 5-tuple, which a hash turns into a choice of path.
  virtual void route(NodeId from, NodeId to, std::uint64_t label, Route& route) const = 0;
  /// The link is down (or up again) from now on: new routes avoid it.
  virtual void set_link_up(LinkId link, bool up) = 0;
};

/// All routers keep a reference to the topology, which must be finished and outlive them.

/// One shortest path for a pair, whatever the label: at every hop the link with the smallest id. Memory: a byte pair
/// for every switch and switch with servers on it that was asked for, and one for every pair of nodes within a server.
[[nodiscard]] std::unique_ptr<Router> make_shortest_path_router(const Topology& topology);

/// ECMP: every node picks among the links that lie on shortest paths by a hash of (source, destination, label), each
/// with its own salt, as switches hash a 5-tuple. The flow hash is h = mix(mix(mix(seed ^ source) + destination) +
/// label) on node indices, a node n picks link floor(c mix(h ^ mix(seed + n + 1)) / 2^64) of its c candidates in order
/// of id, where mix is the finalizer of splitmix64 (Steele, Lea, Flood, OOPSLA 2014; constants of Stafford's variant
/// 13). Integers only: the same choice on every platform.
[[nodiscard]] std::unique_ptr<Router> make_ecmp_router(const Topology& topology, std::uint64_t seed);

/// Ideal packet spraying: every shortest path carries the same share, that is, a node splits over its links in
/// proportion to the number of shortest paths behind them.
[[nodiscard]] std::unique_ptr<Router> make_spraying_router(const Topology& topology);

}  // namespace contend
