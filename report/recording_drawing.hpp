#pragma once
// Draws the tasks of a recorded rank: a lane for each stream of its GPUs and each of its busiest host threads, with a
// colour for each kind of task, and a line where an iteration begins.

#include "traces/recording/recording.hpp"

#include <string>

namespace contend {

/// An SVG of this width (in pixels, > 300). Tasks of a lane and kind that are less than half a pixel apart are one box,
/// so its size doesn't grow with the number of tasks. The rank must be timed.
[[nodiscard]] std::string recording_svg(const RecordedRank& rank, double width = 960);

}  // namespace contend
