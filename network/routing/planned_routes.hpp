#pragma once
// A plan fixes the paths of each flow and how its bytes are split over them. This header has a router that follows a
// plan and a planner that makes one.

#include "network/routing.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

class ShortestPaths;

/// One path of a flow.
struct PlannedPath {
  std::vector<LinkId> links;  ///< in order of travel
  double share = 1;           ///< of the bytes, > 0
};

/// The route of a flow, or of the flows of a pair.
struct PlannedRoute {
  NodeId from;                         ///< a GPU
  NodeId to;                           ///< another GPU
  std::optional<std::uint64_t> label;  ///< none: for all flows of the pair without a route of their own
  std::vector<PlannedPath> paths;      ///< at least one; their shares add up to 1
};

/// Writes the route over these paths, whose shares add up to 1: each link once, with the latency of the longest path.
void join_paths(const Topology& topology, std::span<const PlannedPath> paths, Route& route);

/// A router that follows the plan. Flows that are not in the plan take the route of `others`, and so do flows all of
/// whose paths cross a link that is down. While some paths of a flow are down, the other paths carry its bytes in
/// proportion to their shares. Throws InputError with all mistakes in the plan (keys "plan[3].paths[0]"): ends that are
/// not GPUs, links that do not exist or do not follow each other, paths that start or end elsewhere, visit a node twice
/// or lead through a GPU or server that does not forward, shares that do not add up to 1 (within 1e-9), two routes for
/// one flow.
[[nodiscard]] std::unique_ptr<Router> make_plan_router(const Topology& topology, std::vector<PlannedRoute> plan,
                                                       std::unique_ptr<Router> others);

/// One flow of a set that runs at the same time.
struct Demand {
  NodeId from;
  NodeId to;
  double bytes = 0;  ///< > 0
};

/// A plan that spreads the flows over their shortest paths, so that every link carries the load of ideal packet
/// spraying while few flows are split: V. Addanki et al., "Ethereal", arXiv 2407.00550, for leaf-spine. Flows with the
/// same choice of n paths through the fabric form a group. Of r flows of one size, floor(r/n) n are not split, the same
/// number on each path. With r' = r mod n and g = gcd(r', n), each of the rest is cut into n/g equal pieces, r'/g
/// pieces a path. If flows of several sizes remain, they are laid end to end and cut into n equal parts (McNaughton's
/// wrap-around rule, Management Science 6, 1959), which takes at most n - 1 cuts. In both cases every path of the group
/// carries the same load. Row i of the result is for demand i; the k-th demand of a pair has label k, from 0. Throws
/// InputError for a pair without a path, bytes that are not > 0 and finite, or more than 65,536 shortest paths between
/// a pair.
[[nodiscard]] std::vector<PlannedRoute> plan_splits(const Topology& topology, std::span<const Demand> demands);
/// The same over the shortest paths that there are now.
[[nodiscard]] std::vector<PlannedRoute> plan_splits(ShortestPaths& shortest, std::span<const Demand> demands);

}  // namespace contend
