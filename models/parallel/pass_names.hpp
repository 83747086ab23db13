#pragma once
// The names of the operations of a pipeline's iteration graph, read back: what a recorded run executed.

#include "models/parallel/pipeline_plan.hpp"

#include <string_view>
#include <vector>

namespace contend {

/// A pass, and the stage of the model that it belongs to.
struct NamedPass {
  PipelinePass pass;
  int stage = 0;
};

/// The passes in the name of a compute operation of spread_source(): one, the two of a merged step (step_name()), or
/// none if it is no pass. What follows the stage, such as the part of a pass, is ignored.
[[nodiscard]] std::vector<NamedPass> passes_of_name(std::string_view name);

}  // namespace contend
