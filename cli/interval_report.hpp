#pragma once
// Prints the interval around a predicted iteration: docs/models/prediction-intervals.md.

#include "models/prediction_errors.hpp"
#include "scenarios/spec/training_system.hpp"
#include "sim/result.hpp"
#include "sim/units.hpp"
#include "text/json_writer.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

/// The iteration of a training entry on a number of GPUs, alone in the cluster.
struct PredictedIteration {
  std::string entry;
  int gpus = 1;
  Time time;
  std::vector<PartError> parts;
};

/// For each entry of `training` whose times are predicted: its job in the run on most GPUs. Elastic jobs and jobs on
/// types of servers have no iteration of one length, and jobs with members of their own are left out. None once the
/// user has interrupted.
[[nodiscard]] std::vector<PredictedIteration> predicted_iterations(const TrainingSystem& system, const RunResult& run);

/// part_errors() (scenarios/training/prediction_interval.hpp), on all cores; none once the user has interrupted, and of
/// a pipeline too long to be executed with longer parts.
[[nodiscard]] std::vector<PartError> errors_of_parts(const TrainingSystem& system, const TrainingEntry& entry,
                                                     int gpus);

/// `5.12 to 8.30 s`, or that the interval is not known if there are no parts.
[[nodiscard]] std::string interval_text(Time iteration, std::span<const PartError> parts);
/// Each class that makes a difference of 0.05% or more, by how much the iteration is longer if its parts are longer by
/// their error, and what the classes don't explain.
[[nodiscard]] std::string errors_text(std::span<const PartError> parts);
/// A line for each of them, as in the summary of a run.
[[nodiscard]] std::string iterations_text(std::span<const PredictedIteration> iterations);
/// The member `interval_90` of an object; null if there are no parts.
void write_interval(JsonWriter& json, Time iteration, std::span<const PartError> parts);

}  // namespace contend
