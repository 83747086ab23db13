#pragma once
// Makes a scenario and a job list of a snapshot of a cluster.

#include "traces/cluster/snapshot.hpp"

#include <map>
#include <optional>
#include <string>

namespace contend {

/// What a snapshot holds, for people; GPUs unless said otherwise.
struct SnapshotCounts {
  std::int64_t nodes = 0, usable_nodes = 0, gpus = 0, usable_gpus = 0, free_gpus = 0;
  std::int64_t running = 0, running_gpus = 0, waiting = 0, waiting_gpus = 0, dependent = 0;  ///< jobs, GPUs of them
};

struct SnapshotScenario {
  std::string yaml;  ///< names the job list as `jobs_name`
  std::string jobs;  ///< a job list; empty without jobs
  SnapshotCounts counts;
  std::map<std::string, std::string> types;  ///< by partition: types of its servers, as `gpu_type` of a job list
};

/// Nodes that are alike, and in the same partitions, are a type of server; nodes out of service are left out.
/// Partitions are virtual clusters. Jobs take as long as their limits; `limit` is the limit of jobs without one. What
/// has to be left out of it is counted in `snapshot.left_out`. Throws InputError if a job has no limit, or the jobs of
/// a node hold more GPUs than it has.
[[nodiscard]] SnapshotScenario scenario_of(ClusterSnapshot& snapshot, const std::string& jobs_name,
                                           std::optional<Time> limit);

}  // namespace contend
