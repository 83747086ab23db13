#pragma once
// The interval around the predicted iteration of a training job: what the standard error of each class of parts
// (models/errors.yaml) does to the iteration, found by predicting it once more for each class.

#include "models/prediction_errors.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/spec/training_system.hpp"

#include <span>
#include <vector>

namespace contend {

/// True if the times of the entry's layers come from the models: no file, no profile of a publication and no measured
/// iteration says them.
[[nodiscard]] bool is_predicted(const TrainingEntry& entry);

/// What each class of errors does to the iteration of a job of the entry, which is_predicted(), on so many GPUs that
/// has the cluster to itself. Two iterations are predicted again with all parts of a class longer by its error, so that
/// a way that becomes the longest counts; plans of messages stay as they are. Uses so many threads; their number makes
/// no difference to the result: of a calculation that `goes_on` stops, no effects. Throws InputError as
/// lone_iteration() does.
[[nodiscard]] std::vector<PartError> part_errors(const TrainingSystem& system, const TrainingEntry& entry, int gpus,
                                                 unsigned threads = 1, const GoesOn& goes_on = {});
/// The interval of 90% for the iteration, as factors on it, by part_errors() and the table's `unmodelled`.
[[nodiscard]] PredictionInterval prediction_interval(std::span<const PartError> parts);

}  // namespace contend
