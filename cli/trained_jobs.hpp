#pragma once
// The jobs that a scenario's training entries stand for, which `contend show` describes.

#include "models/workload.hpp"
#include "scenarios/spec/cluster_setup.hpp"
#include "scenarios/spec/training_entry.hpp"

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// Models as jobs name them, and the numbers of GPUs on which jobs train them: models of entries, or of
/// training profiles if there is no entry; with `only_spread` models of entries with `parallel`. An entry that no job
/// trains is there, too, on as much of the cluster as it can have; as few GPUs as it needs if the cluster has fewer.
[[nodiscard]] std::set<std::pair<std::string, int>> trained_jobs(const ClusterSetup& cluster,
                                                                 const std::vector<TrainingEntry>& training,
                                                                 std::span<const JobRequest> jobs, bool only_spread);

}  // namespace contend
