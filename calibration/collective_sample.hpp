#pragma once
// One timed collective or message, as network benchmarks report them.

#include "sim/graph.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace contend {

/// The communication that was timed.
enum class TimedExchange : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  broadcast,
  reduce,
  message,  ///< from one rank to another; of several ranks: from each to the next, and from the last to the first
};
/// The name that `--collective` takes: `all-reduce`, `message`.
[[nodiscard]] std::string_view to_string(TimedExchange exchange);
[[nodiscard]] std::span<const TimedExchange> timed_exchanges();
[[nodiscard]] std::optional<TimedExchange> timed_exchange_named(std::string_view name);
/// The collective of this kind; nothing for a message.
[[nodiscard]] std::optional<CollectiveKind> collective_of(TimedExchange exchange);

/// The ratio of busbw to algbw (doc/PERFORMANCE.md of nccl-tests): bus_factor() of the collective, 1 for a message.
[[nodiscard]] double bus_factor(TimedExchange exchange, int ranks);

/// One measured time.
struct CollectiveSample {
  TimedExchange exchange = TimedExchange::all_reduce;
  int ranks = 0;  ///< 0 if unknown
  int jobs = 1;   ///< equal exchanges that ran at the same time, >= 1
  Bytes size;     ///< of the full tensor on one rank, as in ExchangeCost, or of the message
  Time time;      ///< > 0
};

}  // namespace contend
