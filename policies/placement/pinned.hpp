#pragma once
// Places jobs that name their GPUs.

#include "sim/ports.hpp"

#include <memory>
#include <vector>

namespace contend {

/// A placement that puts jobs with a place (JobView::place, an index into `places`) exactly there as soon as all its
/// GPUs have room, and leaves all other jobs to `others`.
[[nodiscard]] std::unique_ptr<PlacementPolicy> make_pinned_placement(std::vector<std::vector<GpuId>> places,
                                                                     std::unique_ptr<PlacementPolicy> others);

}  // namespace contend
