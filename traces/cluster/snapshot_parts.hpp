#pragma once
// What the readers of this folder share.

#include "traces/cluster/json_items.hpp"
#include "traces/cluster/snapshot.hpp"

namespace contend {

/// The parts of a text between separators, without empty ones.
[[nodiscard]] std::vector<std::string> split_words(std::string_view text, char separator);

/// Adds a node; one without GPUs is counted. Throws InputError if the snapshot has a node of that name from other
/// files.
void add_node_once(SnapshotNode node, const JsonItem& item, ClusterSnapshot& snapshot);
/// Adds a job. Throws InputError if the snapshot has a job of that name.
void add_job_once(SnapshotJob job, const JsonItem& item, ClusterSnapshot& snapshot);

}  // namespace contend
