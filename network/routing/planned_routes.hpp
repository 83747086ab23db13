#pragma once
// Routes that somebody has planned: which paths a flow takes and how it is split over them; and a planner.

#include "network/routing.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

struct PlannedPath {
  std::vector<LinkId> links;  ///< in order of travel
  double share = 1;           ///< of the bytes, > 0
};

struct PlannedRoute {
  NodeId from;                         ///< a GPU
  NodeId to;                           ///< another one
  std::optional<std::uint64_t> label;  ///< none: all flows of the pair that have no route of their own
  std::vector<PlannedPath> paths;      ///< at least one; their shares add up to 1
};

/// Routes as planned. Flows that the plan does not know take the route of `others`, and so do flows all of whose paths
/// cross a link that is down; while some are down the rest of the paths carry the bytes in the proportion of their
/// shares. Throws InputError with all mistakes in the plan (keys "plan[3].paths[0]"): ends that are no GPUs, links that
/// do not exist or do not follow each other, paths that start or end elsewhere, visit a node twice or lead through a
/// GPU or server that does not forward, shares that do not add up to 1 (within 1e-9), two routes for one flow.
[[nodiscard]] std::unique_ptr<Router> make_plan_router(const Topology& topology, std::vector<PlannedRoute> plan,
                                                       std::unique_ptr<Router> others);

/// One flow of a set that runs at the same time.
struct Demand {
  NodeId from;
  NodeId to;
  double bytes = 0;  ///< > 0
};

/// Spreads the flows over their shortest paths so that every link carries what ideal packet spraying would put on it,
/// with few flows split: V. Addanki et al., "Ethereal", arXiv 2407.00550, for leaf-spine. Flows with the same choice of
/// n paths through the fabric form a group. Of r flows of one size, floor(r/n) n go whole, as many on each path; with
/// r' = r mod n and g = gcd(r', n), the rest are cut into n/g equal pieces each, r'/g pieces a path. Where flows of
/// several sizes are left over, they are laid end to end and cut into n equal parts (McNaughton's wrap-around rule,
/// Management Science 6, 1959), which takes n - 1 cuts at most. Either way every path of the group carries the same.
/// Row i is for demand i; the k-th demand of a pair has label k, from 0. Throws InputError for a pair without a path,
/// bytes that are not > 0 and finite, or more than 65,536 shortest paths between a pair.
[[nodiscard]] std::vector<PlannedRoute> plan_splits(const Topology& topology, std::span<const Demand> demands);

}  // namespace contend
