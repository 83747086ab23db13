#pragma once
// Phases order the events of the same nanosecond. Without them the outcome of a tie would depend on which event was
// scheduled first, which is an accident of the code and not of the cluster.

#include <cstdint>

namespace contend {

/// The events of one instant run phase by phase in this order, and within a phase in the order of their scheduling.
enum class Phase : std::uint8_t {
  completions,  ///< tasks, transfers and jobs end; what they held is free for the phases below
  failures,     ///< servers, GPUs and links fail or come back; work that ended at this instant is not affected
  arrivals,     ///< jobs are submitted
  scheduling,   ///< one pass of the scheduler, which sees all that ended, failed or arrived at this instant
  metrics,      ///< samples of a state that no longer changes at this instant
  end,          ///< the run stops: at its time limit, or because nothing is left to do
};

}  // namespace contend
