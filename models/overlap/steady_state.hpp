#pragma once
// How long an iteration takes once a job has settled: a fast executor of folded iteration graphs that stops as soon as
// the state of the job recurs.
//
// It does what the engine does (sim/executor.hpp, sim/courier.hpp) with one job that has its GPUs and its network to
// itself and whose ranks all do the same: every role is one lane that runs one task at a time, collectives pass through
// their channels into the lanes of the exchange. tests/models/overlap holds it equal to the engine, to the nanosecond.

#include "models/overlap/exchange_cost.hpp"
#include "sim/graph.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// A task or a message of an iteration.
struct Span {
  OpId op;
  std::int64_t iteration = 0;
  Time start, end;
};

struct SteadyState {
  double iteration_ns = 0;   ///< mean time between the ends of two iterations
  std::int64_t warm_up = 0;  ///< iterations before it
  std::int64_t period = 0;   ///< iterations averaged over: the state recurs after them, if `recurs`
  bool recurs = false;       ///< false: no recurrence within the limit; the mean is over the last half of them
  std::vector<Time> ends;    ///< of the backward pass of each iteration that was executed
  std::vector<Span> spans;   ///< of all of them, if asked for, in order of their ends
};

struct SteadyStateOptions {
  std::int64_t limit = 200;     ///< iterations at most, >= 4
  std::int64_t iterations = 0;  ///< > 0: exactly so many, recurrence or not
  bool spans = false;
};

/// All roles of the graph have the same number of ranks; it has no point-to-point messages. The last compute operation
/// of the first role ends an iteration.
[[nodiscard]] SteadyState steady_state(const IterationGraph& graph, const ExchangeCost& cost,
                                       const SteadyStateOptions& options = {});

}  // namespace contend
