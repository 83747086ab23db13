#pragma once
// What the readers of this folder share.

#include "traces/cluster/json_items.hpp"
#include "traces/cluster/snapshot.hpp"

namespace contend {

/// The parts of a text between separators, without empty ones.
[[nodiscard]] std::vector<std::string> split_words(std::string_view text, char separator);

/// True if Slurm starts no job on a node of these states: `IDLE+DRAIN`, `DOWN*`. A node that is powered down to save
/// energy is in service.
[[nodiscard]] bool is_out_of_service(std::string_view states);

/// Adds a node; one without GPUs is counted. Throws InputError if the snapshot has a node of that name from other
/// files.
void add_node_once(SnapshotNode node, const JsonItem& item, ClusterSnapshot& snapshot);
/// Adds a job. Throws InputError if the snapshot has a job of that name.
void add_job_once(SnapshotJob job, const JsonItem& item, ClusterSnapshot& snapshot);

/// Adds a queue of Kueue, Volcano or KAI; false if the object is none.
bool add_kubernetes_queue(const JsonItem& item, ClusterSnapshot& snapshot);
/// Adds cohorts that have no object, and names the queues of jobs for which local queues stand.
void complete_queues(ClusterSnapshot& snapshot);
/// The queue as an element of `cluster.vcs`; `name` and `parent` are quoted.
[[nodiscard]] std::string queue_yaml(const SnapshotQueue& queue, const std::string& name, const std::string& parent,
                                     std::int64_t all_gpus);

}  // namespace contend
