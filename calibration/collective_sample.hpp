#pragma once
// One timed collective or message, as benchmarks of networks report them.

#include "sim/graph.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace contend {

/// What was timed.
enum class TimedExchange : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  broadcast,
  reduce,
  message,  ///< from one rank to another
};
/// As `--collective` takes them: `all-reduce`, `message`.
[[nodiscard]] std::string_view to_string(TimedExchange exchange);
[[nodiscard]] std::span<const TimedExchange> timed_exchanges();
[[nodiscard]] std::optional<TimedExchange> timed_exchange_named(std::string_view name);
/// Nothing for a message.
[[nodiscard]] std::optional<CollectiveKind> collective_of(TimedExchange exchange);

struct CollectiveSample {
  TimedExchange exchange = TimedExchange::all_reduce;
  int ranks = 0;  ///< 0 if nobody says
  int jobs = 1;   ///< of these at the same time, >= 1
  Bytes size;     ///< of the full tensor on one rank, as in ExchangeCost; of the message
  Time time;      ///< > 0
};

}  // namespace contend
