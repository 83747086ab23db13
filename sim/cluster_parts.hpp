#pragma once
// Parts of a cluster: the servers among which spares are, and the types of servers in the order in which jobs try them.

#include "sim/cluster.hpp"
#include "sim/job.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// The servers of the owner of the last one: the servers of a virtual cluster, or servers that none owns. Spares are
/// the last of them.
[[nodiscard]] ServerRange servers_with_spares(const ClusterSpec& spec);

/// The types of servers on which the job may run, as far as may_run_on() says, the fastest first, and the mix of them
/// last. `paces`: the job's, one for each type, or none.
[[nodiscard]] std::vector<std::int32_t> types_in_order(const ClusterSpec& spec, const JobSpec& job,
                                                       std::span<const JobPace> paces);

}  // namespace contend
