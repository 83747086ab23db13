#pragma once
// Checks the entries of `training`, and what generated jobs say about them.

#include "scenarios/spec/training_system.hpp"
#include "scenarios/spec/workload_setup.hpp"
#include "sim/error.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// What prevents the entries from being trained on the cluster and network of the system, found before any file of
/// layer times is read; complaints use the scenario's keys. For a study of one iteration only of entries that it
/// doesn't study.
[[nodiscard]] std::vector<Complaint> training_complaints(const TrainingSystem& system, const WorkloadSetup& workload);

/// What is wrong with the parameter servers of jobs or of a study that train that way; `key` is the key of the setup,
/// such as `training.NAME`.
[[nodiscard]] std::vector<Complaint> server_complaints(const ClusterSetup& cluster, const NetworkSetup& network,
                                                       const TrainingSetup& setup, const std::string& key);

/// What is wrong with one entry alone.
[[nodiscard]] std::vector<Complaint> entry_complaints(const TrainingEntry& entry);
/// What is wrong with the entry with these compression methods in place of its own; `listed` is the key that lists
/// them, if any does.
[[nodiscard]] std::vector<Complaint> entry_complaints(const TrainingEntry& entry, std::span<const PolicyChoice> methods,
                                                      std::string_view listed);

/// A line for each member that an entry has from the default entry and that has no effect in it, with the reason.
[[nodiscard]] std::vector<std::string> inherited_notes(std::span<const TrainingEntry> training);

/// The members that the entry leaves out, with the ideals that it has where it would be as a framework has it in the
/// latest version of the format (docs/models/defaults.md), such as `host: none`; empty if it is as a framework has it,
/// and if that makes no difference.
[[nodiscard]] std::vector<std::string> ideals_of(const TrainingEntry& entry);

}  // namespace contend
