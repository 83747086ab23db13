#pragma once
// Which links a flow uses, and what share of its bytes each of them carries.

#include "network/topology.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

/// A link on the way of a flow. `share` is the part of the bytes of the flow that crosses it: 1 on a single path, 1/4
/// where four equal paths split them, more than 1 where the bytes cross the link several times (a ring on one NIC).
struct LinkShare {
  LinkId link;
  double share = 1;
};

/// A way from one GPU to another, possibly split over several paths.
struct Route {
  std::vector<LinkShare> links;  ///< each link once, in order of id
  Time latency;                  ///< of the longest path used
};

class Router {
 public:
  virtual ~Router() = default;
  /// Writes the way from `from` to `to` (different GPUs) into `route`. `label` identifies the flow among those of the
  /// pair: the ports of its 5-tuple, which a hash turns into a choice of path.
  virtual void route(NodeId from, NodeId to, std::uint64_t label, Route& route) const = 0;
  /// The link is down (or up again) from now on: new routes avoid it.
  virtual void set_link_up(LinkId link, bool up) = 0;
};

}  // namespace contend
