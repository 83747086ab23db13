#pragma once
// Draws a pipeline as papers do: a lane for each rank, a box for each pass with the number of its micro-batch, forward
// and backward passes and gradients of weights in three colours, further chunks of a rank in lighter shades. A bubble
// is where a lane is empty. Merged passes share the height of the lane.

#include "models/parallel/pipeline_plan.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

/// A pass in a lane, or a part of it; `part` of `parts` of the lane's height, from the top.
struct PassBox {
  PipelinePass pass;
  int stage = 0;
  Time start, end;
  int part = 0, parts = 1;
};
struct PassLane {
  std::string name;
  std::vector<PassBox> boxes;
};
/// Lanes under a title, from time 0 on.
struct PassLanes {
  std::string title;
  std::vector<PassLane> lanes;
  [[nodiscard]] Time until() const;  ///< the last end
};
/// The drawings below each other, as pipeline_svg() does.
[[nodiscard]] std::string pass_lanes_svg(std::span<const PassLanes> drawings, double width = 960);

/// A pipeline under a title; the plan and its times must outlive the drawing.
struct PipelinePanel {
  std::string title;
  const PipelinePlan& plan;
  const PipelineTimes& times;
};

/// The pipelines below each other, on one scale of time, as an SVG of this width (in pixels, > 300). Its size in bytes
/// grows with the number of passes, each of which has its times as a tooltip; boxes too narrow for a number have none.
[[nodiscard]] std::string pipeline_svg(std::span<const PipelinePanel> panels, double width = 960);
/// A pipeline alone.
[[nodiscard]] std::string pipeline_svg(const PipelinePanel& panel, double width = 960);

}  // namespace contend
