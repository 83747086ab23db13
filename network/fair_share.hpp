#pragma once
// Weighted max-min fair sharing of link capacities among flows with caps.
//
// Flow f has a weight w_f, a cap c_f and crosses link l with share a_lf. Its level is rate_f / w_f. An allocation is max-min
// fair if no level can grow without lowering one that is not larger (Bertsekas and Gallager, Data Networks, 6.5.2);
// equivalently every flow is at its cap or has a bottleneck: a saturated link on which no flow has a larger level.
//
// A change moves only some levels. `FairShare` sweeps them in ascending order, like water rising, and touches only links
// whose level may change and flows that a changed link limits; `max_min_rates` below fills from empty and is the oracle.

#include "network/routing.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace contend {

using FlowId = Id<struct FlowTag>;

/// One flow of a system, for the oracle.
struct FlowDemand {
  std::vector<LinkShare> links;  ///< each link once, share > 0
  double weight = 1;             ///< > 0
  double cap = 0;                ///< bytes per second; 0: none
};

/// Progressive filling from empty: the rates of all flows, bytes per second. O(rounds x entries).
[[nodiscard]] std::vector<double> max_min_rates(std::span<const double> capacities, std::span<const FlowDemand> flows);

}  // namespace contend
