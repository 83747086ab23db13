#pragma once
// Jobs like those of a real trace, drawn at random: `workload: {like: philly, jobs: 100000}`.

#include "models/workload.hpp"
#include "models/workloads/fitted.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace contend {

struct SyntheticWorkload {
  const FittedWorkload* like = nullptr;
  std::optional<std::int64_t> jobs;  ///< >= 1; if absent as many as were fitted
  double rate = 1;                   ///< factor on the arrival rate of the trace, > 0; the cycle of day and week stays
  /// Mean work that arrives, in units of what the cluster can do; > 0. Replaces `rate`.
  std::optional<double> load;
  double durations = 1;         ///< factor on the durations, > 0
  std::optional<Time> longest;  ///< longer durations are cut to this
  std::optional<int> largest;   ///< jobs of more GPUs are not drawn
};

/// Draws the jobs with the streams of `seed`, in order of submit time; times are whole seconds, durations at least one.
/// `cluster_gpus` is what `load` refers to. Throws InputError if no size is within `largest`, or if the arrivals would
/// take more than 100 years.
[[nodiscard]] std::vector<JobRequest> generate_like(const SyntheticWorkload& options, std::int64_t cluster_gpus,
                                                    std::uint64_t seed);

}  // namespace contend
