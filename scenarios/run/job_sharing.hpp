#pragma once
// The law by which the jobs of a scenario share GPUs, from `scheduling.sharing`.

#include "scenarios/scenario.hpp"
#include "sim/job.hpp"
#include "sim/sharing.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace contend {

/// What `scheduling.sharing` means for these jobs. Throws InputError with the faults of its tables.
[[nodiscard]] GpuSharing sharing_of(const ClusterSetup& cluster, const SharingSetup& sharing, const Workload& workload);

/// A job that reserves parts of its GPUs beside which the law may meet a case that it has no speed for.
struct PartFault {
  std::size_t job = 0;  ///< index into Workload::jobs
  std::string reason;   ///< goes on after the name of the job
};
/// What mends a PartFault.
inline constexpr const char* kPartHint =
    "set scheduling.sharing.law to none, or to factor with a scheduling.sharing.most that is large enough";
/// Placement policies put jobs that reserve parts of GPUs (`gpu_share` below 1) side by side as the parts allow, and no
/// law has a say in that. So it must have a speed for as many as ever fit on a GPU: `factor` has for up to `most`, the
/// others have speeds of certain jobs only.
[[nodiscard]] std::vector<PartFault> part_faults(const SharingSetup& sharing, const Workload& workload);

}  // namespace contend
