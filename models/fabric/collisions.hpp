#pragma once
// How flows that are hashed to links at random collide (ECMP). n equal flows on s equal links, each with the same
// probability and independently: the flows of a barrier take as long as the flows of the fullest link.

#include <vector>

namespace contend {

/// What n flows on s links do, exactly but for rounding.
struct FlowCollisions {
  /// By m = 0..n: the probability that no link has more than m flows,
  /// n! / s^n [x^n] (sum over k <= m of x^k / k!)^s.
  std::vector<double> at_most;
  double none = 0;             ///< probability that no link has two flows
  double mean_fullest = 0;     ///< mean number of flows on the fullest link
  double mean_rate = 0;        ///< mean rate of the flows of the fullest link, in units of a link's
  double mean_links_used = 0;  ///< mean number of links with a flow: s (1 - (1 - 1/s)^n)
};

/// 1 <= flows <= 256, 1 <= links <= 1,024.
[[nodiscard]] FlowCollisions flow_collisions(int flows, int links);

}  // namespace contend
