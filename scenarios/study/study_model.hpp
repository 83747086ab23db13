#pragma once
// The model of a study of one iteration with its layer times.

#include "models/layers.hpp"
#include "scenarios/scenario.hpp"

namespace contend {

/// The model with its layer times, scaled if the study says so. Throws InputError.
[[nodiscard]] TimedModel study_model(const IterationStudy& study);

}  // namespace contend
