#pragma once
// The law by which the jobs of a scenario share GPUs, from `scheduling.sharing`.

#include "scenarios/scenario.hpp"
#include "sim/job.hpp"
#include "sim/sharing.hpp"

namespace contend {

/// What `scheduling.sharing` means for these jobs. Throws InputError with the faults of its tables.
[[nodiscard]] GpuSharing sharing_of(const Scenario& scenario, const Workload& workload);

}  // namespace contend
