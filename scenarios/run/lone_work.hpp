#pragma once
// The work of one iteration of a job that has the cluster to itself.

#include "scenarios/spec/training_system.hpp"
#include "sim/job.hpp"

#include <optional>
#include <string>

namespace contend {

/// The work of an iteration of such a job; none if its graph says nothing of it. Throws InputError as lone_iteration()
/// does.
[[nodiscard]] std::optional<TrainingWork> lone_work(const TrainingSystem& system, const std::string& model, int gpus);

}  // namespace contend
