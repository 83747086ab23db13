#pragma once
// The pipelines of a recorded run: what the passes of a job did, with everything that they met, drawn as
// report/pipeline_drawing.hpp draws a plan.

#include "report/pipeline_drawing.hpp"
#include "report/timeline.hpp"

#include <cstddef>
#include <optional>

namespace contend {

/// The largest number of passes in a drawing; more can't be told apart.
inline constexpr std::size_t kMostPassesDrawn = 20'000;

/// An iteration of the job, from its first pass on: the second of those recorded whole, in which the job has settled,
/// or the only one. There is a lane for each pipeline rank, by the first stage that it has: that of the first GPU of
/// the rank. The parts into which a pass is cut are one box, which may have pauses. None if the job is no pipeline, if
/// no iteration was recorded span by span, or if it has more passes than kMostPassesDrawn.
[[nodiscard]] std::optional<PassLanes> pipeline_of(const Timeline& timeline, JobId job);

}  // namespace contend
