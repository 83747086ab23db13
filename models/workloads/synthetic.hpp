#pragma once
// Draws random jobs like the jobs of a published trace, as in `workload: {like: philly, jobs: 100000}`.

#include "models/workload.hpp"
#include "models/workloads/fitted.hpp"
#include "models/workloads/scaling.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace contend {

/// The parameters of the draw.
struct SyntheticWorkload : WorkloadScaling {
  const FittedWorkload* like = nullptr;
  std::optional<std::int64_t> jobs;  ///< >= 1; by default as many as were fitted
};

/// Draws the jobs with the streams of `seed`, in order of submit time. Times are whole seconds; durations are at least
/// one second. `load` refers to `cluster_gpus`. Throws InputError if no size is within `largest`, or if the arrivals
/// would take more than 100 years.
[[nodiscard]] std::vector<JobRequest> generate_like(const SyntheticWorkload& options, std::int64_t cluster_gpus,
                                                    std::uint64_t seed);

}  // namespace contend
