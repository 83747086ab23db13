#pragma once
// A Router decides which links a flow uses, and what share of its bytes each of them carries.
//
// The shortest path is the one with the fewest links, whatever their latency. Of equally short paths between two GPUs
// of one server only the widest count, whose narrowest link is the fastest. Inside a server, NVLink is therefore
// preferred to PCIe, and both to the NIC. Of equally short paths between servers those count that leave and arrive by
// the interfaces of the two GPUs (network/routing/near_interfaces.hpp): the library binds a GPU to its interface, and
// only switches hash. network/topology.hpp says which nodes may forward.
//
// In fabrics of tiers (leaf-spine, rail-optimised, fat-tree, clos) a path goes up and then down. One that goes up
// again, as over another leaf, is none, even where links have failed and no other is left: BGP in a Clos rejects it
// because the spines have one number (RFC 7938, section 5.2.1), and InfiniBand's up/down routing forbids it because
// credits could wait for each other in a circle (OpenSM, UPDN). Fabrics without tiers know no up and down.

#include "network/routing/beats.hpp"
#include "network/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

/// A link that a flow crosses. `share` is the part of its bytes that crosses the link: 1 on a single path, 1/4 if four
/// equal paths split them, more than 1 if the bytes cross the link several times (a ring on one NIC).
struct LinkShare {
  LinkId link;
  double share = 1;
};

/// A route from one GPU to another, possibly split over several paths.
struct Route {
  std::vector<LinkShare> links;  ///< each link once, in order of id; empty if there is no path now: a flow stalls
  Time latency;                  ///< of the longest path used
};

/// A flow of several that start together.
struct RoutedFlow {
  NodeId from;  ///< a GPU
  NodeId to;    ///< another GPU
  std::uint64_t label = 0;
  double bytes = 0;  ///< > 0
};

/// What a job sends in each of its iterations, for routers that plan ahead.
struct RoutedJob {
  std::uint64_t label = 0;        ///< of all its flows
  double work_s = 0;              ///< GPU time of an iteration
  std::vector<RoutedFlow> flows;  ///< one for each pair that sends, with the bytes of an iteration
};

/// Finds routes. It caches its answers: a router belongs to one simulation and is not safe for use by several threads.
class Router {
 public:
  virtual ~Router() = default;
  /// Writes the route from `from` to `to` (different GPUs) into `route`. `label` identifies the flow among the flows of
  /// the pair, like the ports of its 5-tuple, which a hash turns into a choice of path.
  virtual void route(NodeId from, NodeId to, std::uint64_t label, Route& route) const = 0;
  /// Writes the routes of flows that start together, in their order. A router that looks at each flow alone writes
  /// the routes of route().
  virtual void route_together(std::span<const RoutedFlow> flows, std::vector<Route>& routes) const {
    routes.resize(flows.size());
    for (std::size_t i = 0; i < flows.size(); ++i) route(flows[i].from, flows[i].to, flows[i].label, routes[i]);
  }
  /// True if the routes of route_together() depend on the other flows.
  [[nodiscard]] virtual bool plans_together() const { return false; }
  /// Takes a link down or up from now on. New routes avoid a link that is down.
  virtual void set_link_up(LinkId link, bool up) = 0;

  /// True if the router wants to know of jobs that start and leave. Only then do the following functions do anything.
  [[nodiscard]] virtual bool plans_ahead() const { return false; }
  /// The job sends these flows from now on, in place of its flows before.
  virtual void enter(const RoutedJob& /*job*/) {}
  /// The job sends nothing from now on.
  virtual void leave(std::uint64_t /*label*/) {}
  /// Chooses paths again where jobs or links that have come or gone ask for that. To be called before routes are.
  virtual void plan() {}
  /// The priority of the bytes of a job: 0 goes first.
  [[nodiscard]] virtual int level(std::uint64_t /*label*/) const { return 0; }
  /// True if it has jobs that share links begin their iterations in turns.
  [[nodiscard]] virtual bool shifts_iterations() const { return false; }
  /// A job that has entered takes so long for an iteration alone, and sends in the last part of it.
  virtual void pace(std::uint64_t /*label*/, Time /*iteration*/, Time /*communication*/) {}
  /// When the job begins its iterations; nothing if at any time.
  [[nodiscard]] virtual std::optional<Beat> beat(std::uint64_t /*label*/) const { return std::nullopt; }
  /// Another number whenever a path or the level of the job has changed.
  [[nodiscard]] virtual std::uint64_t age(std::uint64_t /*label*/) const { return 0; }
};

// All routers keep a reference to the topology, which must be finished and outlive them.

/// A router that uses one shortest path for a pair, whatever the label: at every hop the link with the smallest id. Its
/// memory is two bytes for every pair of a switch and a requested switch with servers, and two for every pair of nodes
/// within a server.
[[nodiscard]] std::unique_ptr<Router> make_shortest_path_router(const Topology& topology);

/// How the hashes of switches differ.
enum class EcmpHash : std::uint8_t {
  per_switch,  ///< each switch has a salt of its own, so that the choices along a path are independent
  same,        ///< all have one salt, so that flows that one switch sent the same way choose alike at the next: traffic
               ///< is polarised. With k links at each of two stages it takes k of the k x k paths.
};

/// A router by ECMP: every node picks among its links on shortest paths by a hash of (source, destination, label) with
/// a salt of its own, as switches hash a 5-tuple (EcmpHash::per_switch). The hash of a flow is h = mix(mix(mix(seed ^
/// source) + destination) + label) on node indices. Node n picks link floor(c mix(h ^ mix(seed + n + 1)) / 2^64) of its
/// c candidates in order of id, and a switch as if n + 1 were 0 by EcmpHash::same, where mix is the finalizer of
/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014; constants of Stafford's variant 13). It uses integers only, so the
/// choice is the same on every platform.
[[nodiscard]] std::unique_ptr<Router> make_ecmp_router(const Topology& topology, std::uint64_t seed,
                                                       EcmpHash hash = EcmpHash::per_switch);

/// A router by ideal packet spraying: every shortest path carries the same share. A node therefore splits the bytes
/// over its links in proportion to the number of shortest paths behind them.
[[nodiscard]] std::unique_ptr<Router> make_spraying_router(const Topology& topology);

/// A router that splits few flows and still gives every link the load of ideal packet spraying: flows that start
/// together follow the plan of plan_splits() (network/routing/planned_routes.hpp; V. Addanki et al., "Ethereal", arXiv
/// 2407.00550), whatever their labels. A flow on its own is split over all its shortest paths. Throws InputError for
/// flows with more than 65,536 shortest paths between their ends.
[[nodiscard]] std::unique_ptr<Router> make_ethereal_router(const Topology& topology);

}  // namespace contend
