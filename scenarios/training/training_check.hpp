#pragma once
// Checks the entries of `training`, and what the jobs of a scenario say about them.

#include "scenarios/scenario.hpp"
#include "sim/error.hpp"

#include <vector>

namespace contend {

/// What prevents the entries from being trained on the cluster and network of the scenario, found before any file of
/// layer times is read; complaints use the scenario's keys. Nothing for a study of one iteration.
[[nodiscard]] std::vector<Complaint> training_complaints(const Scenario& scenario);

/// The same of one entry alone.
[[nodiscard]] std::vector<Complaint> entry_complaints(const TrainingEntry& entry);

}  // namespace contend
