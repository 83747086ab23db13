#pragma once
// Costs of collectives among sites whose links differ, in the order of the sites. Each is the longest path through its
// messages, so a CostCurve: what decides for small messages, latency, isn't what decides for large ones.
//
//   all-reduce, reduce-scatter, all-gather   ring from each site to the next. A site sends its next block when it has
//       received it and its link is free; nobody waits for a step of all.
//   all-to-all       n - 1 steps, in step s a block from site i to i + s; a site takes the next step when it has sent
//   and
//       received
//   broadcast, reduce   binomial tree from or to the first site, one message of a site after the other
//   exchange         the mean over the rounds of a PeerRule, each as long as its slowest transfer
//
// Where all links are the same these are the formulas of ExchangeCost::ring.

#include "models/overlap/exchange_cost.hpp"
#include "models/overlap/peers.hpp"
#include "network/link_matrix.hpp"
#include "sim/units.hpp"

#include <cstdint>

namespace contend {

/// One worker at each of the two or more sites; `gamma` is adding up a received byte. A collective whose links are
/// missing, or whose pairs can't be made, is impossible: an InputError when it is sent.
[[nodiscard]] ExchangeCost link_cost(const LinkMatrix& links, TimePerByte gamma, const PeerRule& rule,
                                     std::uint64_t seed);

}  // namespace contend
