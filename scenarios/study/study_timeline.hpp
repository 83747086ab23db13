#pragma once
// One settled iteration of a study, message by message, for a timeline.

#include "models/overlap/steady_state.hpp"
#include "scenarios/scenario.hpp"
#include "sim/graph.hpp"

#include <vector>

namespace contend {

/// What begins between the ends of two backward passes.
struct StudyTimeline {
  IterationGraph graph;
  std::vector<Span> spans;  ///< in order of their ends; time 0 is the end of the backward pass before
  Time iteration;
};
/// Of the first number of workers and the first policies; of several phases the last. Throws InputError.
[[nodiscard]] StudyTimeline study_timeline(const Scenario& scenario);

}  // namespace contend
