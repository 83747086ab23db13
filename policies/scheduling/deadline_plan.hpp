#pragma once
// Plans jobs of one GPU on machines, one after the other on each, so that the fewest are late, and of such plans the
// sum of the completion times is least. Branch and bound over the plans in order of their starts: the machine that is
// free first gets any of the jobs that are left, or no job any more. The bound of a node is what its jobs cost so far,
// and of each job that is left its cost if it came next on the best machine. It is the search of Hydra (Yang
// et al., IEEE Transactions on Computers 72, 2023); order of branches, bound and limit are this project's.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace contend {

struct PlannedJob {
  std::vector<double> takes;                             ///< seconds on each type, > 0; infinity: it can't run there
  double due = std::numeric_limits<double>::infinity();  ///< seconds from now; later it is late
};

struct PlanMachine {
  std::size_t type = 0;
  double free_at = 0;  ///< seconds from now, >= 0
};

struct DeadlinePlan {
  static constexpr std::size_t kNone = SIZE_MAX;
  std::vector<std::size_t> machine_of;  ///< by job; kNone if it can run on no machine
  std::vector<double> starts;           ///< by job, seconds from now
  int late = 0;
  double completions = 0;  ///< sum of the seconds from now to the ends
  bool is_best = false;    ///< the search came to its end before its limit
};

/// Looks at so many nodes at most, after two plans that put jobs one after the other where each ends first: jobs with a
/// deadline first, by it, and the others by their shortest time; and all by their shortest time. Ties go to jobs and
/// machines in front.
[[nodiscard]] DeadlinePlan plan_deadlines(std::span<const PlannedJob> jobs, std::span<const PlanMachine> machines,
                                          std::int64_t nodes);

}  // namespace contend
