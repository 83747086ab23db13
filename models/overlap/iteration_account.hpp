#pragma once
// Says for what the GPU of a worker spent an iteration: its own tasks, and what it waited for between them.

#include "models/overlap/steady_state.hpp"
#include "sim/graph.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Kinds of what a GPU does or waits for.
enum class IterationPart : std::uint8_t {
  compute,       ///< tasks of the layers, as long as planned
  input,         ///< waiting for input data
  kernels,       ///< kernels around messages: of compression, and copies of the framework
  interference,  ///< by which tasks took longer than planned, because transfers slowed them down
  exposed,       ///< idle while a collective was in the network; `what` is the collective
  timer,         ///< idle while a timer ran, such as work of the host or a cycle of Horovod; `what` is the timer
  held,          ///< idle, and nothing of the job was under way: its messages were held back
};
[[nodiscard]] std::string_view to_string(IterationPart part);

struct AccountRow {
  IterationPart part = IterationPart::compute;
  std::string what;    ///< the operation; empty where a row sums all of a part
  double seconds = 0;  ///< mean of an iteration
};

/// What a task is to the account: IterationPart::compute, input or kernels.
using KindOfTask = std::function<IterationPart(const Op&)>;

/// Accounts for the time between two ends of iterations on a GPU of the first role, as means over so many iterations.
/// `spans` has the tasks of that GPU, and the collectives and timers of the job. While a GPU is idle, of several
/// collectives that are in the network the one that began first counts, and timers count only beside none. The seconds
/// of all rows add up to (to - from) / iterations. Rows of exposed collectives and of timers are in the order of the
/// operations.
[[nodiscard]] std::vector<AccountRow> account_of(const IterationGraph& graph, std::span<const Span> spans, Time from,
                                                 Time to, std::int64_t iterations, const KindOfTask& kind_of);

}  // namespace contend
