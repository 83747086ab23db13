#pragma once
// Checks values of `overlap.*` that are valid one by one but contradict each other.

#include "scenarios/spec/training_system.hpp"
#include "sim/error.hpp"

#include <vector>

namespace contend {

/// The contradictions that prevent an iteration study, found before any file of layer times is read; complaints use the
/// scenario's keys. Empty for a system without such a study.
[[nodiscard]] std::vector<Complaint> study_complaints(const TrainingSystem& system);

}  // namespace contend
