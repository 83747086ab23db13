#pragma once
// The check of what a placement policy chooses, for the engine and for policies that hand on the choice of somebody
// else.

#include "sim/cluster_view.hpp"
#include "sim/ids.hpp"

#include <span>
#include <string>

namespace contend {

/// The reason why the job can't run on these GPUs, worded to follow its name, such as `was given a GPU twice`; an empty
/// text if it can (PlacementPolicy::place).
[[nodiscard]] std::string why_illegal(const ClusterView& cluster, const JobView& job, std::span<const GpuId> gpus);

}  // namespace contend
