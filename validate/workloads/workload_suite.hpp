#pragma once
// The suite `workloads`: queueing of generated workloads beside the queueing of the lists to which they are fitted.

#include "validate/workloads/queueing.hpp"
#include "validate/workloads/real_lists.hpp"

#include <cstdio>
#include <span>
#include <vector>

namespace contend {

/// The loads at which lists are compared, and the number of drawn lists: seeds 1, 2, ...
inline constexpr double kComparedLoads[] = {0.6, 0.75, 0.9};
inline constexpr int kDrawnLists = 12;

/// What was found at one load.
struct QueueingAtLoad {
  double load = 0;
  Queueing real;
  std::vector<Queueing> drawn;
  [[nodiscard]] QueueingRatio ratio() const { return ratio_of(drawn, real); }
};

/// Compares drawn lists with `real` on `servers`, on all cores. `seeds` and `loads` at least one.
[[nodiscard]] std::vector<QueueingAtLoad> compare_queueing(std::span<const JobRequest> real, int servers,
                                                           const FittedWorkload& fit, std::span<const double> loads,
                                                           int seeds);

/// Prints tables and verdicts. Returns 0 unless a workload queues otherwise than its table states
/// (FittedWorkload::queueing); lists that are absent are skipped.
int validate_workloads(std::FILE* out);

}  // namespace contend
