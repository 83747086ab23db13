#pragma once
// Workers that exchange over a store, as functions do that can't be reached: each write and read is a request of its
// own. Source: LambdaML (Jiang et al., SIGMOD 2021; DS3Lab/LambdaML), whose two patterns these are.

#include "models/overlap/exchange_cost.hpp"
#include "sim/units.hpp"

namespace contend {

/// The costs of all-reduces of `workers` over a store to which each has a link of this start-up time and time per byte:
/// - without `scatters`: all write, the first reads all and writes the sum, and the others read it: (w + 3) requests of
///   all bytes one after the other, and `poll`, what the others wait until they look again.
/// - with it: each writes w - 1 pieces, reads w - 1, writes its sum, and reads w - 1: 3 w - 2 requests of 1/w.
/// A broadcast is a write and a read; gathers and scatters are halves of the second pattern.
[[nodiscard]] ExchangeCost stored_exchange(int workers, const ChannelCost& store, Time poll, bool scatters);

}  // namespace contend
