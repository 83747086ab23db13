#pragma once
// What jobs send through the interfaces of their servers in a second, for placement policies that weigh traffic.

#include "scenarios/scenario.hpp"
#include "sim/job.hpp"

#include <vector>

namespace contend {

/// By job, the bytes that each of its servers sends through its interfaces in a second when the job is alone and fills
/// servers one after the other, or halves of two if one could hold it: the bytes of an iteration, over the time that
/// the iteration takes if its tasks and its bytes follow each other, the bytes at the rate of the interfaces of server
/// 0. 0 for jobs with a duration. Throws InputError for a topology that can't be built.
[[nodiscard]] std::vector<double> sent_per_second(const ClusterSetup& cluster, const NetworkSetup& network,
                                                  const Workload& workload);

}  // namespace contend
