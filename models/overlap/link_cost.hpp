#pragma once
// Computes the costs of collectives among sites whose links differ, with ranks in the order of the sites (rings:
// RingOrder). Each cost is the longest path through the messages, and a CostCurve: latency decides for small messages,
// bandwidth for large ones.
//
// - All-reduce, reduce-scatter and all-gather use a ring from each site to the next. A site sends its next block when
//   it has received it and its link is free; there is no barrier between steps.
// - All-to-all has n - 1 steps. In step s a block goes from site i to site i + s; a site takes the next step when it
//   has sent and received.
// - Broadcast and reduce use a binomial tree from or to the first site. A site sends its messages one after the other.
// - Exchange costs the mean over the rounds of a PeerRule; a round takes as long as its slowest transfer.
//
// If all links are equal, these are the formulas of ExchangeCost::ring.

#include "models/overlap/exchange_cost.hpp"
#include "models/overlap/peers.hpp"
#include "network/link_matrix.hpp"
#include "network/ring_order.hpp"
#include "sim/units.hpp"

#include <cstdint>

namespace contend {

/// The costs with one worker at each of the two or more sites; `gamma` is the time to add a received byte. Rings visit
/// the sites in the order `ring`. A collective whose links are missing, or whose pairs can't be formed, is impossible:
/// sending it throws InputError.
[[nodiscard]] ExchangeCost link_cost(const LinkMatrix& links, TimePerByte gamma, const PeerRule& rule,
                                     std::uint64_t seed, RingOrder ring = RingOrder::table);

}  // namespace contend
