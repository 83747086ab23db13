#pragma once
// How a workload is changed before it runs: WorkloadScaling for generated jobs and for job lists alike, ListSampling
// and scale_list() for job lists.

#include "models/workload.hpp"
#include "models/workloads/resampling.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace contend {

struct WorkloadScaling {
  double rate = 1;  ///< factor on the arrival rate, > 0; its cycle of day and week stays
  /// Mean GPU time that arrives, as a fraction of the GPU time of the cluster, > 0. Replaces `rate`.
  std::optional<double> load;
  double durations = 1;         ///< factor on the durations, > 0
  std::optional<Time> longest;  ///< longer durations are reduced to this
  std::optional<int> largest;   ///< there are no jobs with more GPUs
};

/// Which jobs of a list run.
struct ListSampling {
  double subset = 1;       ///< share of the jobs, drawn at random without replacement, > 0 and <= 1; at least one job
  bool bootstrap = false;  ///< each job takes all but its name and submission from a job drawn with replacement
  /// Length of the blocks of a resampled list (Resampling), which comes before the others; not together with
  /// `bootstrap`.
  std::optional<Time> block{};
  bool replace = true;  ///< Resampling::replace
  bool operator==(const ListSampling&) const = default;
};

struct ScaledList {
  std::vector<JobRequest> jobs;
  std::vector<std::size_t> rows;  ///< by job: the index of the job in the list from which it has its demand
};

/// The jobs of a list, in its order, after these changes: the list is resampled, jobs that are too large are left out,
/// others are drawn with the streams of `seed`, then times are scaled. A job of iterations counts with the time that
/// they compute: its number of iterations is scaled. Limits, and the times from submission
/// to deadline, are scaled as durations are, but not cut. Measured waits
/// are left out, because they belong to another workload, and jobs come after those only that are left. Think times
/// stay. `load` refers to `cluster_gpus`, and to the time between the
/// first submission, which stays, and the last. Throws InputError if no job is left, or if the times can't be scaled as
/// wanted.
[[nodiscard]] ScaledList scale_list(std::span<const JobRequest> list, const WorkloadScaling& scaling,
                                    const ListSampling& sampling, std::int64_t cluster_gpus, std::uint64_t seed,
                                    const IterationTime& iteration = profile_iteration);

}  // namespace contend
