#pragma once
// How jobs are scheduled beside the policy: what every simulator of the field decides somewhere, and few say.

#include "sim/units.hpp"

#include <cstdint>
#include <vector>

namespace contend {

/// Which of two queued jobs with equal keys goes first.
enum class TieOrder : std::uint8_t {
  submission,     ///< the one submitted first, then the one first in the list
  list_reversed,  ///< the one submitted first, then the one last in the list
  latest,         ///< the one submitted last, then the one last in the list
  name,           ///< the one whose name is smaller, byte by byte
};

/// What a preemption costs a timed job. Work is never lost beyond the last checkpoint. (A job with an iteration graph
/// loses the iterations in flight and nothing else.)
struct PreemptionCosts {
  Time restart;              ///< on its GPUs, at each start after a preemption, before it goes on
  Time checkpoint_interval;  ///< work between two checkpoints; 0: what is done is saved at once
  Time checkpoint;           ///< on its GPUs, for each checkpoint
};

struct SchedulingRules {
  Time quantum;  ///< passes come at its multiples only; 0: at any instant at which something happened
  TieOrder ties = TieOrder::submission;
  PreemptionCosts preemption;
  Time retry_delay;  ///< between the failure of an attempt and the next wait
  /// Thousandths by which a timed job takes longer, by the number of servers that it spans beyond the fewest possible:
  /// the first for one more, the last for all further ones; none: placement doesn't change it.
  std::vector<std::int32_t> scatter_penalty;
};

/// A stretch of work of a timed job, from a start to its end or to a preemption.
struct WorkSegment {
  Time work;                 ///< to be done
  Time restart;              ///< before it
  std::int32_t pace = 1000;  ///< thousandths of the time that the work takes on the fewest servers
};

/// Until the work is done.
[[nodiscard]] Time length_of(const WorkSegment& segment, const PreemptionCosts& costs);

struct WorkDone {
  Time done;
  Time saved;     ///< part of it, by the last checkpoint
  Time overhead;  ///< time spent on restart and checkpoints
};
/// After `elapsed` of the length of the segment. At its end all is done and saved.
[[nodiscard]] WorkDone work_after(const WorkSegment& segment, const PreemptionCosts& costs, Time elapsed);

}  // namespace contend
