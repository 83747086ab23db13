#pragma once
// Computes the duration of an iteration once a job has settled: a fast executor of folded iteration graphs that stops
// as soon as the state of the job recurs.
//
// It behaves as the engine (sim/executor.hpp, sim/courier.hpp) does with one job that has its GPUs and its network to
// itself and whose ranks all do equal work. Every role is one lane that runs one task at a time; collectives pass
// through their channels into the lanes of the exchange. A lane and the transfers of its role slow each other down by
// ExchangeCost::interference. Tests in tests/models/overlap require that both agree to the nanosecond.

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

/// The result: the mean duration of an iteration and how it was found.
struct SteadyState {
  double iteration_ns = 0;   ///< mean time between the ends of two iterations
  std::int64_t warm_up = 0;  ///< iterations before those averaged over
  std::int64_t period = 0;   ///< iterations averaged over; if `recurs`, the state recurs after them
  bool recurs = false;      ///< false: no recurrence within the limit; the mean is over the last half of the iterations
  std::vector<Time> ends;   ///< ends of the backward passes of all executed iterations
  std::vector<Span> spans;  ///< tasks and messages of these iterations, if requested, in order of their ends
};

/// The parameters of the executor.
struct SteadyStateOptions {
  std::int64_t limit = 200;     ///< iterations at most, >= 4; at least four cycles of phases
  std::int64_t iterations = 0;  ///< > 0: execute exactly this many, whether the state recurs or not
  bool spans = false;           ///< record spans
};

/// Executes the graph. Its phases repeat, or the iterations are given, which then are all of the job. All its roles
/// have the same number of ranks, and it has no point-to-point messages. An iteration ends with the last compute
/// operation of the first role.
[[nodiscard]] SteadyState steady_state(const IterationGraph& graph, const ExchangeCost& cost,
                                       const SteadyStateOptions& options = {});

}  // namespace contend
